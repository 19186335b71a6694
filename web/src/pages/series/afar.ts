// Very many runs on a canvas: what falls on the same pixels is drawn once, host by host.

import type { Dots } from "./dots";

export type ToPixel = (value: number) => number;

export interface Canvas {
  ctx: CanvasRenderingContext2D;
  left: number;
  top: number;
  width: number;
  height: number;
  /** Pixels of the canvas to one of the page. */
  ratio: number;
}

/** Draw the dots between two places: the spreads pale behind, each median a small square. */
export function drawFromAfar(on: Canvas, dots: Dots, [from, to]: [number, number], inks: string[], x: ToPixel, y: ToPixel): void {
  const side = 2 * on.ratio;
  const columns = Math.ceil(on.width / side) + 1;
  const rows = Math.ceil(on.height / side) + 1;
  const hosts = inks.map(() => ({
    seen: new Uint8Array(columns * rows),
    lowest: new Float64Array(columns).fill(Infinity),
    highest: new Float64Array(columns).fill(-Infinity),
  }));
  for (let place = from; place <= to; place += 1) {
    const median = dots.median[place] ?? NaN;
    const host = hosts[(dots.host[place] ?? 0) % hosts.length];
    const column = Math.floor((x(place) - on.left) / side);
    if (Number.isNaN(median) || !host || column < 0 || column >= columns) continue;
    const row = Math.floor((y(median) - on.top) / side);
    if (row >= 0 && row < rows) host.seen[column * rows + row] = 1;
    host.lowest[column] = Math.min(host.lowest[column] ?? Infinity, dots.min[place] ?? median);
    host.highest[column] = Math.max(host.highest[column] ?? -Infinity, dots.max[place] ?? median);
  }
  for (const [place, { seen, lowest, highest }] of hosts.entries()) {
    on.ctx.fillStyle = inks[place] ?? "";
    fillSpreads(on, side, lowest, highest, y);
    fillSeen(on, side, seen, rows);
  }
}

function fillSpreads({ ctx, left, ratio }: Canvas, side: number, lowest: Float64Array, highest: Float64Array, y: ToPixel): void {
  ctx.globalAlpha = 0.35;
  ctx.beginPath();
  for (let column = 0; column < lowest.length; column += 1) {
    const [low, high] = [lowest[column] ?? Infinity, highest[column] ?? -Infinity];
    if (low <= high) ctx.rect(left + column * side, y(high), Math.max(1, side - ratio), Math.max(1, y(low) - y(high)));
  }
  ctx.fill();
  ctx.globalAlpha = 1;
}

/** Fill the squares that hold a median; those above each other in one stroke. */
function fillSeen({ ctx, left, top }: Canvas, side: number, seen: Uint8Array, rows: number): void {
  ctx.beginPath();
  for (let place = 0; place < seen.length; place += 1) {
    if (!seen[place]) continue;
    const row = place % rows;
    let end = row + 1;
    while (end < rows && seen[place - row + end]) end += 1;
    ctx.rect(left + ((place - row) / rows) * side, top + row * side, side, (end - row) * side);
    place += end - row - 1;
  }
  ctx.fill();
}
