// The chart of a series with what is beside it: what its marks mean, the exact values where the
// pointer is, and all that is drawn as a file.

import { useState } from "preact/hooks";
import type { Incident } from "../../parts/incidents";
import { type Column, Save } from "../../parts/table";
import { changedAddress, go } from "../../route";
import { direction, measured, metricName } from "../../shown/metric";
import { count } from "../../shown/number";
import { Moment } from "../../shown/time";
import { t } from "../../words";
import { Chart } from "./chart";
import { type Dots, type Outline, type Series, known } from "./dots";

interface Wanted {
  series: Series;
  stacks: Series["stacks"] | Outline["stacks"];
  hosts: readonly string[];
  /** Null until they are there. */
  dots: Dots | null;
  incidents: readonly Incident[];
  zoom: [number, number] | null;
  picked: string[];
  pick: (run: string) => void;
}

export function Figure(wanted: Wanted) {
  const { series, dots, pick } = wanted;
  const [hovered, setHovered] = useState<number | null>(null);
  return (
    <figure class="figure">
      <div class="figurehead">
        <Legend of={series} hosts={wanted.hosts} incidents={wanted.incidents.length > 0} />
        {dots && <Save name="series" columns={saved(wanted, dots)} rows={() => Array.from(dots.run, (_, place) => place)} />}
      </div>
      {dots ? (
        <Chart
          {...wanted}
          dots={dots}
          label={spoken(series, dots)}
          onHover={setHovered}
          onPick={(place) => dots.run[place] && pick(dots.run[place])}
          onZoom={(zoom) => go(changedAddress({ zoom: zoom ? zoom.join("-") : null }))}
        />
      ) : (
        <div class="chart bone" aria-busy="true" />
      )}
      <Hovered {...wanted} at={hovered} />
    </figure>
  );
}

function saved({ stacks, hosts }: Wanted, dots: Dots): Column<number>[] {
  const column = (key: string, value: Column<number>["value"]): Column<number> => ({ key, title: "", value });
  return [
    column("run", (place) => dots.run[place]),
    column("measured_at", (place) => timeOf(dots, place)),
    column("stack", (place) => stacks[dots.stack[place] ?? 0]?.name),
    column("host", (place) => hosts[dots.host[place] ?? 0]),
    column("runs", (place) => dots.runs[place]),
    column("median", (place) => known(dots.median[place])),
    column("min", (place) => known(dots.min[place])),
    column("max", (place) => known(dots.max[place])),
  ];
}

function timeOf(dots: Dots, place: number): string {
  return new Date(dots.at[place] ?? 0).toISOString();
}

const SHAPES = ["●", "■", "▲", "◆"];

function Legend({ of, hosts, incidents }: { of: Series; hosts: readonly string[]; incidents: boolean }) {
  return (
    <p class="legend muted">
      {hosts.map((host, place) => (
        <span key={host} class="nowrap">
          <span aria-hidden="true" class={`host-${place % 4}`}>
            {SHAPES[place % 4]}
          </span>{" "}
          {host}
        </span>
      ))}
      <span class="nowrap"><span aria-hidden="true" class="unjudged">○</span> {t("series.unjudged")}</span>
      <span class="nowrap"><span aria-hidden="true">│</span> {t("series.stacks")}</span>
      {of.change_points.length > 0 && <span class="nowrap"><span aria-hidden="true">▲▼</span> {t("series.change")}</span>}
      {incidents && <span class="nowrap"><span aria-hidden="true">►</span> {t("kind.incident").toLowerCase()}</span>}
      {of.baseline?.level != null && (
        <>
          <span class="nowrap"><span aria-hidden="true" class="swatch band" /> {t("series.band")}</span>
          <span class="nowrap"><span aria-hidden="true" class="swatch dash" /> {t("field.tolerance").toLowerCase()}</span>
        </>
      )}
    </p>
  );
}

function Hovered({ series, dots, stacks, hosts, at }: Wanted & { at: number | null }) {
  if (!dots || at === null || at >= dots.length) return <p class="hovered muted">{t("series.hover")}</p>;
  const value = (of: Float64Array) => measured(series.metric, known(of[at]));
  const runs = dots.runs[at] ?? 1;
  return (
    <p class="hovered">
      <strong>{value(dots.median)}</strong>{" "}
      <span class="muted">
        {value(dots.min)} – {value(dots.max)}
      </span>{" "}
      · {stacks[dots.stack[at] ?? 0]?.name} · {hosts[dots.host[at] ?? 0]} · {runs > 1 ? t("series.runs", { runs: count(runs) }) : <Moment at={timeOf(dots, at)} brief />}
      {!dots.judged(at) && <> · {t("series.unjudged")}</>}
    </p>
  );
}

/** Say what the chart shows, for whoever does not see it. */
function spoken(series: Series, dots: Dots): string {
  let [low, high] = [Infinity, -Infinity];
  for (const median of dots.median) {
    if (median < low) low = median;
    if (median > high) high = median;
  }
  return t("series.spoken", {
    metric: metricName(series.metric),
    direction: direction(series.better),
    runs: count(series.total),
    low: measured(series.metric, low),
    high: measured(series.metric, high),
  });
}
