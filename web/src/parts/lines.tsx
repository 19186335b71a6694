// A small chart of lines: with marks and bounds where there are few points, bare where many.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { scaleOf, tickLabel } from "../shown/number";

export interface Dot {
  x: number;
  y: number;
  low?: number | null;
  high?: number | null;
  title?: string;
  /** Does not count: its mark is pale. */
  aside?: boolean;
}

export interface Line {
  name: string;
  /** Which of the four colours and shapes. */
  tone: number;
  dots: readonly Dot[];
}

interface Wanted {
  lines: readonly Line[];
  xUnit: string;
  yUnit: string;
  xWord: string;
  yWord: string;
  label: string;
  marked?: boolean;
  /** A level that is drawn across, such as a limit. */
  level?: number | null;
  height?: number;
  /** False: another chart below has the same. */
  legend?: boolean;
  /** What is counted along the axis comes in whole numbers. */
  whole?: boolean;
}

const [LEFT, RIGHT, TOP, BOTTOM] = [62, 14, 26, 34];
const SHAPES = ["●", "■", "▲", "◆"];

export function Lines(wanted: Wanted) {
  const { lines, height = 280, level = null, legend = true } = wanted;
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(720);
  useLayoutEffect(() => {
    const place = box.current;
    if (!place) return;
    const watch = new ResizeObserver(() => setWidth(Math.max(240, place.clientWidth)));
    watch.observe(place);
    return () => watch.disconnect();
  }, []);
  const dots = lines.flatMap((line) => line.dots);
  if (dots.length === 0) return null;
  const xs = wanted.whole ? around(dots.map((dot) => dot.x)) : spanOf(dots.map((dot) => dot.x));
  const ys = spanOf([...dots.flatMap((dot) => [dot.low ?? dot.y, dot.high ?? dot.y]), ...(level === null ? [] : [level])]);
  const x = (at: number) => LEFT + ((at - xs[0]) / (xs[1] - xs[0])) * (width - LEFT - RIGHT);
  const y = (at: number) => height - BOTTOM - ((at - ys[0]) / (ys[1] - ys[0])) * (height - TOP - BOTTOM);
  const [xScale, yScale] = [scaleOf(wanted.xUnit, xs[1]), scaleOf(wanted.yUnit, ys[1])];
  const ticksX = ticksOf(xs, xScale.factor, Math.max(2, Math.floor(width / (wanted.whole ? 40 : 120))), wanted.whole ? 1 : 0);
  return (
    <div ref={box} class="lines">
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={wanted.label}>
        {ticksOf(ys, yScale.factor, 5).map((at) => (
          <g key={at}>
            <line class="grid" x1={LEFT} x2={width - RIGHT} y1={y(at)} y2={y(at)} />
            <text x={LEFT - 6} y={y(at) + 4} text-anchor="end">{tickLabel(at * yScale.factor)}</text>
          </g>
        ))}
        {ticksX.map((at) => (
          <text key={at} x={x(at)} y={height - BOTTOM + 16} text-anchor="middle">{tickLabel(at * xScale.factor)}</text>
        ))}
        <text x={width - RIGHT} y={height - 4} text-anchor="end">{withUnit(wanted.xWord, xScale.unit)} →</text>
        <text class="name" x={LEFT} y={14}>↑ {withUnit(wanted.yWord, yScale.unit)}</text>
        {level !== null && <line class="limit" x1={LEFT} x2={width - RIGHT} y1={y(level)} y2={y(level)} />}
        {lines.map((line) => (
          <g key={line.name} class={`tone-${line.tone % 4}`}>
            <path d={line.dots.map((dot, place) => `${place ? "L" : "M"}${x(dot.x).toFixed(1)} ${y(dot.y).toFixed(1)}`).join("")} />
            {wanted.marked && line.dots.map((dot) => <Mark key={`${dot.x} ${dot.y}`} dot={dot} tone={line.tone} at={[x(dot.x), y(dot.y)]} bar={[y(dot.low ?? dot.y), y(dot.high ?? dot.y)]} />)}
          </g>
        ))}
      </svg>
      {legend && (
        <p class="legend muted">
          {lines.map((line) => (
            <span key={line.name}>
              <span aria-hidden="true" class={`host-${line.tone % 4}`}>{SHAPES[line.tone % 4]}</span> {line.name}
            </span>
          ))}
        </p>
      )}
    </div>
  );
}

interface MarkWanted {
  dot: Dot;
  tone: number;
  at: [number, number];
  bar: [number, number];
}

function Mark({ dot, tone, at: [left, top], bar: [low, high] }: MarkWanted) {
  return (
    <g class={dot.aside ? "aside" : undefined}>
      {dot.title && <title>{dot.title}</title>}
      {low !== high && <line x1={left} x2={left} y1={low} y2={high} />}
      <text class="mark" x={left} y={top + 5} text-anchor="middle">{SHAPES[tone % 4]}</text>
    </g>
  );
}

function withUnit(word: string, unit: string): string {
  return unit ? `${word} (${unit})` : word;
}

/** Return where an axis of whole numbers begins and ends: half a step beside them. */
function around(numbers: readonly number[]): [number, number] {
  return [Math.min(...numbers) - 0.5, Math.max(...numbers) + 0.5];
}

/** Return where an axis begins and ends: from zero where that is near, with a little room. */
function spanOf(values: readonly number[]): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const each of values) {
    low = Math.min(low, each);
    high = Math.max(high, each);
  }
  if (low > 0 && low < high / 2) low = 0;
  const room = (high - low || Math.abs(high) || 1) * 0.06;
  return [low === 0 ? 0 : low - room, high + room];
}

/** Return round numbers of the shown unit within an axis, in base units. */
function ticksOf([low, high]: [number, number], factor: number, most: number, least = 0): number[] {
  const rough = ((high - low) * factor) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(least, ([1, 2, 5, 10].find((each) => each * power >= rough) ?? 10) * power);
  const first = Math.ceil((low * factor) / step);
  const last = Math.floor((high * factor) / step);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, place) => ((first + place) * step) / factor);
}
