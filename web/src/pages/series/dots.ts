// A series as it is drawn, in columns: one entry a run, or, from far away, one for several
// neighbours. Nothing is made for each of them, since they may be a hundred thousand.

import type { Schemas } from "../../api/client";

export type Series = Schemas["SeriesRead"];
export type Outline = Schemas["SeriesOutline"];

/** NaN in median, min and max: there is none. repeats: of each run, or of none from far away. */
export interface Dots {
  length: number;
  run: readonly string[];
  stack: readonly number[];
  host: ArrayLike<number>;
  runs: ArrayLike<number>;
  /** Milliseconds since 1970. */
  at: Float64Array;
  median: Float64Array;
  min: Float64Array;
  max: Float64Array;
  judged: (place: number) => boolean;
  repeats: (place: number) => readonly number[];
}

function numbers(of: readonly (number | null)[], scale = 1): Float64Array {
  const found = new Float64Array(of.length);
  for (let place = 0; place < of.length; place += 1) found[place] = (of[place] ?? NaN) * scale;
  return found;
}

export function dotsOf({ points, hosts }: Series): Dots {
  const places = new Map(hosts.map((host, place) => [host, place]));
  return {
    length: points.length,
    run: points.map((point) => point.run_id),
    stack: points.map((point) => point.stack),
    host: points.map((point) => places.get(point.host) ?? 0),
    runs: points.map(() => 1),
    at: numbers(points.map((point) => Date.parse(point.measured_at))),
    median: numbers(points.map((point) => point.median)),
    min: numbers(points.map((point) => point.min)),
    max: numbers(points.map((point) => point.max)),
    judged: (place) => points[place]?.judged ?? false,
    repeats: (place) => points[place]?.repeats ?? [],
  };
}

export function dotsOfOutline(of: Outline): Dots {
  const median = numbers(of.median);
  return {
    length: of.run_id.length,
    run: of.run_id,
    stack: of.stack,
    host: of.host,
    runs: of.runs,
    at: numbers(of.measured_at, 1000),
    median,
    min: numbers(of.min),
    max: numbers(of.max),
    judged: (place) => !Number.isNaN(median[place]),
    repeats: () => [],
  };
}

/** Return a value where there is one. */
export function known(value: number | undefined): number | null {
  return value === undefined || Number.isNaN(value) ? null : value;
}

/** Return the part of a series that the address zooms to, as places, inclusive. */
export function zoomOf(text: string | null, length: number): [number, number] | null {
  const match = /^(\d+)-(\d+)$/.exec(text ?? "");
  if (!match) return null;
  const [from, to] = [Number(match[1]), Math.min(Number(match[2]), length - 1)];
  return to > from ? [from, to] : null;
}

/** Return how many characters all names begin with alike, up to their last dash. */
export function alike(names: readonly string[]): number {
  const [first = "", ...others] = names;
  let length = 0;
  while (length < first.length && others.every((name) => name[length] === first[length])) length += 1;
  return others.length === 0 ? 0 : first.slice(0, length).lastIndexOf("-") + 1;
}
