// A series as it is drawn: one dot a run, or, from far away, one for several neighbours.

import type { Schemas } from "../../api/client";

export type Series = Schemas["SeriesRead"];
export type Outline = Schemas["SeriesOutline"];

export interface Dot {
  run: string;
  stack: number;
  host: number;
  median: number | null;
  min: number | null;
  max: number | null;
  repeats: readonly number[];
  judged: boolean;
  runs: number;
  at: string;
}

export function dotsOf(series: Series): Dot[] {
  const hosts = new Map(series.hosts.map((host, place) => [host, place]));
  return series.points.map((point) => ({
    run: point.run_id,
    stack: point.stack,
    host: hosts.get(point.host) ?? 0,
    median: point.median,
    min: point.min,
    max: point.max,
    repeats: point.repeats,
    judged: point.judged,
    runs: 1,
    at: point.measured_at,
  }));
}

export function dotsOfOutline(of: Outline): Dot[] {
  return of.run_id.map((run, place) => ({
    run,
    stack: of.stack[place] ?? 0,
    host: of.host[place] ?? 0,
    median: of.median[place] ?? null,
    min: of.min[place] ?? null,
    max: of.max[place] ?? null,
    repeats: [],
    judged: of.median[place] !== null,
    runs: of.runs[place] ?? 1,
    at: new Date((of.measured_at[place] ?? 0) * 1000).toISOString(),
  }));
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
