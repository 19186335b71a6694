// What a series' chart shows on its canvas: the band, the tolerance, stack changes, runs, repeats.

import type uPlot from "uplot";
import { colour } from "../../shell/theme";
import { drawFromAfar, type ToPixel } from "./afar";
import type { Drawn } from "./chart";
import { alike, type Dots } from "./dots";

// Below this many dots in view every repeat is drawn, above it only the medians.
const REPEATS_MAX = 400;
const LABELS_MAX = 12;

/** Return how far the value axis reaches: all in view, the band and the tolerance. */
export function lowestAndHighest(drawn: Drawn, plot: uPlot): [number, number] {
  const [from, to] = inView(drawn, plot);
  let [low, high] = [Infinity, -Infinity];
  const { min, max } = drawn.dots;
  for (let place = from; place <= to; place += 1) {
    // What is not there is NaN, and neither lower nor higher than anything.
    if ((min[place] ?? NaN) < low) low = min[place] ?? low;
    if ((max[place] ?? NaN) > high) high = max[place] ?? high;
  }
  const band = drawn.series.baseline;
  if (band?.low != null && band.high != null && band.level != null) {
    const reach = bound(drawn) ?? band.level;
    low = Math.min(low, band.low, reach);
    high = Math.max(high, band.high, reach);
  }
  if (low > high) return [0, 1];
  const space = (high - low || Math.abs(high) || 1) * 0.08;
  return [low - space, high + space];
}

function inView({ dots }: Drawn, plot: uPlot): [number, number] {
  const { min, max } = plot.scales.x ?? {};
  return [Math.max(0, Math.ceil(min ?? 0)), Math.min(dots.length - 1, Math.floor(max ?? dots.length))];
}

/** Return the level at which a run is beyond the tolerance. */
function bound({ series }: Drawn): number | null {
  const level = series.baseline?.level;
  if (level == null) return null;
  return level * (series.better === "lower" ? 1 + series.tolerance : 1 - series.tolerance);
}

/** Draw what lies behind the runs. */
export function drawBack(plot: uPlot, drawn: Drawn): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, 0, bbox.width, bbox.top + bbox.height);
  ctx.clip();
  drawBand(plot, drawn);
  drawStacks(plot, drawn);
  drawChangePoints(plot, drawn);
  drawIncidents(plot, drawn);
  ctx.restore();
}

function drawBand(plot: uPlot, drawn: Drawn): void {
  const band = drawn.series.baseline;
  if (band?.level == null || band.low == null || band.high == null) return;
  const { ctx, bbox } = plot;
  const y = (value: number) => plot.valToPos(value, "y", true);
  ctx.fillStyle = colour("--band");
  const [top, bottom] = [y(band.high), y(band.low)];
  ctx.fillRect(bbox.left, top, bbox.width, Math.max(bottom - top, 2 * devicePixelRatio));
  line(plot, y(band.level), "--accent", []);
  const limit = bound(drawn);
  if (limit !== null) line(plot, y(limit), "--worse", [6, 5]);
}

function line(plot: uPlot, y: number, ink: string, dashes: number[]): void {
  const { ctx, bbox } = plot;
  ctx.strokeStyle = colour(ink);
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash(dashes.map((dash) => dash * devicePixelRatio));
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.setLineDash([]);
}

function drawStacks(plot: uPlot, drawn: Drawn): void {
  const { ctx, bbox } = plot;
  const [from, to] = inView(drawn, plot);
  const begins: [number, string][] = [];
  // What all stacks are called alike is left out, so that more of them can be named.
  const same = alike(drawn.stacks.map((stack) => stack.name));
  const { stack } = drawn.dots;
  for (let place = from; place <= to; place += 1) {
    if (place > from && stack[place] === stack[place - 1]) continue;
    begins.push([place, (drawn.stacks[stack[place] ?? 0]?.name ?? "").slice(same)]);
  }
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textBaseline = "alphabetic";
  ctx.textAlign = "left";
  ctx.strokeStyle = ctx.fillStyle = colour("--muted");
  ctx.lineWidth = devicePixelRatio;
  let free = bbox.left;
  for (const [place, name] of begins) {
    const x = Math.max(plot.valToPos(place - 0.5, "x", true), bbox.left);
    ctx.globalAlpha = 0.55;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top - 8 * devicePixelRatio);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.globalAlpha = 1;
    if (begins.length > LABELS_MAX * 3) continue;
    // The last name stands before its line where there is no room behind it.
    const { width } = ctx.measureText(name);
    const start = Math.min(x + 4 * devicePixelRatio, bbox.left + bbox.width - width);
    if (start < free) continue;
    ctx.fillText(name, start, bbox.top - 10 * devicePixelRatio);
    free = start + width + 10 * devicePixelRatio;
  }
}

/** Draw where the screen saw the level change: a line, and at its foot which way. */
function drawChangePoints(plot: uPlot, { dots, series }: Drawn): void {
  const { ctx, bbox } = plot;
  const foot = bbox.top + bbox.height;
  ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textBaseline = "bottom";
  ctx.textAlign = "left";
  for (const { run_id, direction } of series.change_points) {
    const x = lineBefore(plot, dots.run.indexOf(run_id ?? ""), direction);
    if (x !== null) ctx.fillText(direction === "worse" ? "▲" : "▼", x + 3 * devicePixelRatio, foot - 2 * devicePixelRatio);
  }
}

/** Draw since which stack an incident is: a line with a pennant. */
function drawIncidents(plot: uPlot, { dots, stacks, incidents }: Drawn): void {
  const { ctx, bbox } = plot;
  const size = 10 * devicePixelRatio;
  for (const { candidate_stack_key, direction } of incidents) {
    const stack = stacks.findIndex(({ key }) => key === candidate_stack_key);
    const x = lineBefore(plot, dots.stack.indexOf(stack), direction);
    if (x === null) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x + size, bbox.top + size / 2);
    ctx.lineTo(x, bbox.top + size);
    ctx.fill();
  }
}

/** Draw a line before a run, in the colour of a direction, and return where; null: there is no such run. */
function lineBefore({ ctx, bbox, valToPos }: uPlot, place: number, direction: "worse" | "better"): number | null {
  if (place < 0) return null;
  const x = valToPos(place - 0.5, "x", true);
  ctx.strokeStyle = ctx.fillStyle = colour(direction === "worse" ? "--worse" : "--better");
  ctx.lineWidth = 2 * devicePixelRatio;
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  return x;
}

/** Draw the runs: each repeat small, the median large, by host in another shape and colour. */
export function drawDots(plot: uPlot, drawn: Drawn): void {
  const { ctx, bbox } = plot;
  const [from, to] = inView(drawn, plot);
  const [x, y] = [linear(plot, "x"), linear(plot, "y")];
  const size = 4.5 * devicePixelRatio;
  const inks = [0, 1, 2, 3].map((host) => colour(`--host-${host}`));
  const [pale, surface, strong] = [colour("--muted"), colour("--surface"), colour("--text")];
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top - size, bbox.width, bbox.height + 2 * size);
  ctx.clip();
  if (to - from > REPEATS_MAX) {
    drawFromAfar({ ctx, ...bbox, ratio: devicePixelRatio }, drawn.dots, [from, to], inks, x, y);
    ctx.restore();
    return;
  }
  const { dots } = drawn;
  for (let place = from; place <= to; place += 1) {
    const median = dots.median[place] ?? NaN;
    if (Number.isNaN(median)) continue;
    const host = (dots.host[place] ?? 0) % 4;
    const [at, level] = [x(place), y(median)];
    ctx.strokeStyle = ctx.fillStyle = dots.judged(place) ? (inks[host] ?? strong) : pale;
    drawSpread(ctx, dots, place, at, y);
    shape(ctx, host, at, level, size);
    if (!dots.judged(place)) ctx.fillStyle = surface;
    ctx.fill();
    ctx.lineWidth = 1.5 * devicePixelRatio;
    ctx.stroke();
    if (drawn.picked.includes(dots.run[place] ?? "")) ring(ctx, at, level, size * 2, strong);
  }
  ctx.restore();
}

/** Return a scale as a straight line: the plot itself would look its scale up for every value. */
function linear(plot: uPlot, scale: "x" | "y"): ToPixel {
  const { min, max } = plot.scales[scale] ?? {};
  const [low, high] = [min ?? 0, max ?? 1];
  const start = plot.valToPos(low, scale, true);
  const slope = (plot.valToPos(high, scale, true) - start) / (high - low || 1);
  return (value) => start + (value - low) * slope;
}

function drawSpread(ctx: CanvasRenderingContext2D, dots: Dots, place: number, x: number, y: ToPixel): void {
  ctx.globalAlpha = 0.55;
  const repeats = dots.repeats(place);
  for (const repeat of repeats) {
    ctx.beginPath();
    ctx.arc(x, y(repeat), 1.8 * devicePixelRatio, 0, 7);
    ctx.fill();
  }
  if (repeats.length === 0) {
    ctx.lineWidth = devicePixelRatio;
    ctx.beginPath();
    ctx.moveTo(x, y(dots.min[place] ?? NaN));
    ctx.lineTo(x, y(dots.max[place] ?? NaN));
    ctx.stroke();
  }
  ctx.globalAlpha = 1;
}

function ring(ctx: CanvasRenderingContext2D, x: number, y: number, size: number, ink: string): void {
  ctx.strokeStyle = ink;
  ctx.lineWidth = 2 * devicePixelRatio;
  ctx.beginPath();
  ctx.arc(x, y, size, 0, 7);
  ctx.stroke();
}

/** Begin the path of a host's shape: circle, square, triangle or diamond. */
function shape(ctx: CanvasRenderingContext2D, kind: number, x: number, y: number, size: number): void {
  ctx.beginPath();
  if (kind === 0) ctx.arc(x, y, size, 0, 7);
  else if (kind === 1) ctx.rect(x - size * 0.9, y - size * 0.9, size * 1.8, size * 1.8);
  else {
    const corners = kind === 2 ? [-90, 30, 150] : [-90, 0, 90, 180];
    for (const corner of corners) {
      const angle = (corner * Math.PI) / 180;
      ctx.lineTo(x + size * 1.25 * Math.cos(angle), y + size * 1.25 * Math.sin(angle));
    }
    ctx.closePath();
  }
}
