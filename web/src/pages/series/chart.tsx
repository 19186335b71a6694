// The chart of a series: uPlot for scales, axes and the cursor; what is drawn is drawn in ink.ts.

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Incident } from "../../parts/incidents";
import { scaleOf, tickLabel } from "../../shown/number";
import { colour, colours } from "../../shell/theme";
import type { Dots, Outline, Series } from "./dots";
import { drawBack, drawDots, lowestAndHighest } from "./ink";

export interface Drawn {
  series: Series;
  stacks: Series["stacks"] | Outline["stacks"];
  dots: Dots;
  incidents: readonly Incident[];
  zoom: [number, number] | null;
  picked: string[];
}

interface Wanted extends Drawn {
  label: string;
  onHover: (place: number | null) => void;
  onPick: (place: number) => void;
  onZoom: (zoom: [number, number] | null) => void;
}

const HEIGHT = 340;
// A press that moves less is a click and no brush.
const CLICK_PX = 5;

export function Chart(wanted: Wanted) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const newest = useRef(wanted);
  newest.current = wanted;
  const painted = colours.use();
  useLayoutEffect(() => {
    const place = box.current;
    if (!place) return;
    const made = new uPlot(optionsOf(newest, place.clientWidth), dataOf(wanted.dots), place);
    plot.current = made;
    zoomTo(made, newest.current);
    // Told of its first size as well, with which it is drawn already.
    const watch = new ResizeObserver(() => place.clientWidth !== made.width && made.setSize({ width: place.clientWidth, height: HEIGHT }));
    watch.observe(place);
    return () => {
      watch.disconnect();
      made.destroy();
    };
  }, [wanted.dots, painted]);
  // Not when the chart is made, which draws it so.
  const [zoomed, marked] = [wanted.zoom?.join(), [...wanted.picked, ...wanted.incidents.map(({ id }) => id)].join()];
  const shown = useRef({ zoomed, marked });
  useEffect(() => {
    const before = shown.current;
    shown.current = { zoomed, marked };
    if (plot.current && before.zoomed !== zoomed) zoomTo(plot.current, wanted);
    else if (before.marked !== marked) plot.current?.redraw(false);
  }, [zoomed, marked]);
  return <div ref={box} class="chart" role="img" aria-label={wanted.label} />;
}

function dataOf(dots: Dots): uPlot.AlignedData {
  const places = new Float64Array(dots.length);
  for (let place = 0; place < dots.length; place += 1) places[place] = place;
  return [places, dots.median];
}

function zoomTo(plot: uPlot, { zoom, dots }: Drawn): void {
  const [min, max] = zoom ?? [0, dots.length - 1];
  plot.setScale("x", { min: min - 0.5, max: max + 0.5 });
}

function optionsOf(newest: { current: Wanted }, width: number): uPlot.Options {
  const axis = { stroke: colour("--muted"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
  const { series, dots } = newest.current;
  const scale = scaleOf(series.unit, dots.median.find((median) => !Number.isNaN(median)) ?? 1);
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    padding: [28, 12, 0, 0],
    cursor: {
      y: false,
      points: { show: false },
      drag: { x: true, y: false, setScale: false, dist: CLICK_PX },
      bind: {
        dblclick: () => () => {
          newest.current.onZoom(null);
          return null;
        },
      },
    },
    scales: {
      x: { time: false },
      y: { range: (plot) => lowestAndHighest(newest.current, plot) },
    },
    axes: [
      { ...axis, grid: { show: false }, size: 30, values: (_, ticks) => ticks.map((tick) => (Number.isInteger(tick) ? String(tick + 1) : "")) },
      {
        ...axis,
        size: 78,
        values: (_, ticks) => ticks.map((tick) => `${tickLabel(tick * scale.factor)} ${scale.unit}`.trim()),
      },
    ],
    series: [{}, { show: true, paths: () => null, points: { show: false } }],
    hooks: {
      ready: [(plot) => listenForPicks(plot, newest)],
      drawAxes: [(plot) => drawBack(plot, newest.current)],
      draw: [
        (plot) => {
          drawDots(plot, newest.current);
          // Told to whoever measures how soon a series is drawn.
          performance.mark("kunline.drawn", { detail: newest.current.dots.length });
        },
      ],
      setCursor: [(plot) => newest.current.onHover(plot.cursor.idx ?? null)],
      setSelect: [
        (plot) => {
          if (plot.select.width < CLICK_PX) return;
          const from = Math.ceil(plot.posToVal(plot.select.left, "x"));
          const to = Math.floor(plot.posToVal(plot.select.left + plot.select.width, "x"));
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          if (to > from) newest.current.onZoom([Math.max(0, from), to]);
        },
      ],
    },
  };
}

function listenForPicks(plot: uPlot, newest: { current: Wanted }): void {
  let pressed = 0;
  plot.over.addEventListener("mousedown", (event) => {
    pressed = event.clientX;
  });
  plot.over.addEventListener("click", (event) => {
    const place = plot.cursor.idx;
    if (Math.abs(event.clientX - pressed) < CLICK_PX && place != null) newest.current.onPick(place);
  });
}
