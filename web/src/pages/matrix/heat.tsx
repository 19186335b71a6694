// The heat map, which is a table: a square has a number, its interval, a sign, a word and a colour.

import { useMemo } from "preact/hooks";
import type { Schemas } from "../../api/client";
import { heatOf, Outcome, toneOf } from "../../parts/outcome";
import { useGrowing } from "../../parts/growing";
import { memo } from "../../parts/memo";
import { type Column, Save } from "../../parts/table";
import { address } from "../../route";
import { measured, metricName } from "../../shown/metric";
import { interval, percent, tolerance, worsening } from "../../shown/number";
import { t } from "../../words";

type Matrix = Schemas["MatrixRead"];
type Row = Schemas["MatrixRow"];
type Square = Schemas["Square"];
type Verdict = Schemas["MetricVerdict"];

interface Place {
  name: string;
  title: string;
  of: (row: Row) => { square: Square | undefined; verdict: Verdict | undefined };
}

// As many places fit beside the names; of more, a row's name stays in view while they are scrolled.
const FITTING = 4;

export function Heat({ of, rows, byStack }: { of: Matrix; rows: Row[]; byStack: boolean }) {
  // The same places for the same answer, so that rows that are drawn are not drawn again.
  const places = useMemo(() => (byStack ? stackPlaces(of) : metricPlaces(of)), [of, byStack]);
  const grown = useGrowing(rows);
  return (
    <div class="tablebox">
      <div class="tablehead">
        <h2 class="unseen" id="heat-caption">
          {t("nav.matrix")}
        </h2>
        <p class="muted legend">
          {t("matrix.legend")}
        </p>
        <Save name="matrix" rows={() => rows} columns={saved(places)} />
      </div>
      <div class="scroll tall" tabIndex={0} role="region" aria-labelledby="heat-caption">
        <table class={places.length > FITTING ? "heat reaching" : "heat"} aria-labelledby="heat-caption" aria-rowcount={rows.length + 1} style={{ "--places": places.length }}>
          <colgroup>
            <col class="cell" />
            <col class="baseline" />
            <col span={places.length} />
          </colgroup>
          <thead>
            <tr>
              <th scope="col">{t("field.cell")}</th>
              <th scope="col">{t("field.baseline")}</th>
              {places.map((place) => (
                <th key={place.name} scope="col">
                  {place.title} <Tolerance of={rows} at={place} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, grown).map((row) => (
              <HeatRow key={row.condition_key + row.protocol_key} row={row} places={places} />
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

/** What a column's worsenings are held to, where that is one and the same. */
const Tolerance = memo(function Tolerance({ of, at }: { of: Row[]; at: Place }) {
  const all = new Set(of.map((row) => at.of(row).verdict?.tolerance).filter((each) => each !== undefined));
  const [one] = all;
  return one !== undefined && all.size === 1 ? <span class="muted">{`${t("field.tolerance")} ${tolerance(one)}`}</span> : null;
});

function metricPlaces(of: Matrix): Place[] {
  return of.metrics.map((metric) => ({
    name: metric,
    title: metricName(metric),
    of: (row) => {
      const square = row.squares[0];
      return { square, verdict: square?.verdicts.find((verdict) => verdict.metric === metric) };
    },
  }));
}

function stackPlaces(of: Matrix): Place[] {
  return of.stacks.map((stack, place) => ({
    name: stack.key,
    title: stack.name,
    of: (row) => ({ square: row.squares[place], verdict: row.squares[place]?.verdicts[0] }),
  }));
}

const HeatRow = memo(function HeatRow({ row, places }: { row: Row; places: Place[] }) {
  return (
    <tr data-row>
      <th scope="row">{row.title}</th>
      <td class="small">{row.baseline ? row.baseline.name : <span class="muted">{t("matrix.unpinned")}</span>}</td>
      {places.map((place) => {
        const { square, verdict } = place.of(row);
        return <HeatSquare key={place.name} row={row} square={square} verdict={verdict} />;
      })}
    </tr>
  );
});

function HeatSquare({ row, square, verdict }: { row: Row; square: Square | undefined; verdict: Verdict | undefined }) {
  if (!square || !verdict) return <td class="square muted">–</td>;
  const to = address("/series", {
    condition: row.condition_key,
    protocol: row.protocol_key,
    metric: verdict.metric,
    host: square.hosts > 1 ? square.host : null,
  });
  const side = verdict.worsening === null ? "bad" : verdict.worsening > 0 ? "worse" : "better";
  return (
    <td class={`square ${side} tone-${toneOf(verdict.outcome)}`} style={{ "--heat": heatOf(verdict).toFixed(2) }}>
      <a href={to} title={told(verdict)}>
        {verdict.worsening === null ? null : (
          <>
            <span class="value">{worsening(verdict)}</span>
            <span class="interval">{interval(verdict)}</span>
          </>
        )}
        <Outcome of={verdict.outcome} />
      </a>
    </td>
  );
}

function told(verdict: Verdict): string {
  const parts = [
    `${measured(verdict.metric, verdict.baseline)} → ${measured(verdict.metric, verdict.candidate)}`,
    `${t("field.tolerance")} ${tolerance(verdict.tolerance)}`,
  ];
  if (verdict.smallest_detectable !== null) {
    parts.push(t("verdict.detectable", { effect: percent(verdict.smallest_detectable, 1, false) }));
  }
  if (verdict.reason) parts.push(verdict.reason);
  return parts.join(" · ");
}

function saved(places: Place[]): Column<Row>[] {
  return [
    { key: "cell", title: "", value: (row) => row.title },
    { key: "condition_key", title: "", value: (row) => row.condition_key },
    { key: "protocol_key", title: "", value: (row) => row.protocol_key },
    { key: "baseline", title: "", value: (row) => row.baseline?.name },
    ...places.flatMap((place): Column<Row>[] => [
      { key: `${place.name}.worsening`, title: "", value: (row) => place.of(row).verdict?.worsening },
      { key: `${place.name}.low`, title: "", value: (row) => place.of(row).verdict?.low },
      { key: `${place.name}.high`, title: "", value: (row) => place.of(row).verdict?.high },
      { key: `${place.name}.outcome`, title: "", value: (row) => place.of(row).verdict?.outcome },
    ]),
  ];
}

