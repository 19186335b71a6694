// The evidence of one metric of one cell: control and candidate side by side, in the order in
// which they were measured; and what their servers settled differently.

import type { Schemas } from "../../api/client";
import { type Asked, useAnswer } from "../../api/use";
import { Shown } from "../../parts/asked";
import { Differences } from "../../parts/differences";
import { Facts, Section } from "../../parts/fields";
import { estimateOf, foremost, type Incident, type IncidentCell } from "../../parts/incidents";
import { Worsening } from "../../parts/outcome";
import { type Column, Table } from "../../parts/table";
import { usePlace } from "../../route";
import { measured, metricName } from "../../shown/metric";
import { count } from "../../shown/number";
import { Moment } from "../../shown/time";
import { t } from "../../words";
import { placeOf } from "./index";
import { Order } from "./order";

type Run = Schemas["RunRead"];

export interface Shot {
  run: Run;
  place: number;
  isCandidate: boolean;
  counts: boolean;
  value: number;
}

// As many runs of each side are looked at; a confirm session has far fewer.
const LIMIT = 100;

export function Evidence({ of }: { of: Incident }) {
  const { query } = usePlace();
  const cell = of.cells.find((each) => placeOf(each) === query.get("cell")) ?? foremost(of);
  if (!cell) return null;
  return (
    <Section title={t("incident.evidence_of", { metric: metricName(cell.metric), cell: cell.title })}>
      <OfCell incident={of} cell={cell} />
    </Section>
  );
}

function useSide(stack: string, cell: IncidentCell): Asked<Schemas["RunPage"]> {
  const asked = { stack_key: stack, condition_key: cell.condition_key, session_id: cell.session_id, limit: LIMIT };
  return useAnswer("/api/v1/runs", {}, asked);
}

function OfCell({ incident, cell }: { incident: Incident; cell: IncidentCell }) {
  const control = useSide(incident.baseline_stack_key, cell);
  const candidate = useSide(incident.candidate_stack_key, cell);
  const value = control.value && candidate.value && [...control.value.runs, ...candidate.value.runs];
  return (
    <Shown of={{ ...(control.problem ? control : candidate), loading: control.loading || candidate.loading, value }} lines={10}>
      {(runs) => <SideBySide shots={shotsOf(runs, incident, cell)} cell={cell} />}
    </Shown>
  );
}

/** Return both sides' runs of a cell in the order measured. */
function shotsOf(runs: readonly Run[], incident: Incident, cell: IncidentCell): Shot[] {
  const counted = new Set(cell.run_ids);
  return runs
    .filter((run) => run.protocol_key === cell.protocol_key && run.state === "measured" && cell.metric in run.medians)
    .sort((a, b) => Date.parse(a.measured_at) - Date.parse(b.measured_at))
    .map((run, place) => ({
      run,
      place: place + 1,
      isCandidate: run.stack_key === incident.candidate_stack_key,
      counts: (counted.size === 0 || counted.has(run.id)) && !run.drifted && !run.withdrawn,
      value: run.medians[cell.metric] ?? 0,
    }));
}

function SideBySide({ shots, cell }: { shots: Shot[]; cell: IncidentCell }) {
  const sides = [shots.filter((each) => !each.isCandidate), shots.filter((each) => each.isCandidate)] as const;
  return (
    <>
      <Facts
        of={[
          [t("field.control"), sideWords(sides[0], cell)],
          [t("field.candidate"), sideWords(sides[1], cell)],
          [t("field.worsening"), <Worsening key="worsening" of={estimateOf(cell)} />],
          [t("incident.seen_by"), t(cell.session_id ? "incident.by_confirm_long" : "incident.by_screen_long")],
        ]}
      />
      {shots.length === 0 ? (
        <p class="muted">{t("incident.no_runs")}</p>
      ) : (
        <>
          <Order shots={shots} metric={cell.metric} />
          <InOrder of={shots} metric={cell.metric} />
        </>
      )}
      <Settled control={sides[0].at(-1)} candidate={sides[1][0]} />
    </>
  );
}

function sideWords(side: readonly Shot[], cell: IncidentCell): string {
  const counted = side.filter((each) => each.counts);
  const of = (counted.length > 0 ? counted : side).map((each) => each.value).sort((a, b) => a - b);
  if (of.length === 0) return "–";
  const middle = ((of[(of.length - 1) >> 1] ?? 0) + (of[of.length >> 1] ?? 0)) / 2;
  return t("incident.side", { median: measured(cell.metric, middle), runs: count(of.length) });
}

function InOrder({ of, metric }: { of: readonly Shot[]; metric: string }) {
  const columns: Column<Shot>[] = [
    { key: "place", title: t("field.place"), value: (row) => row.place, heads: true, numeric: true },
    { key: "side", title: t("incident.arm"), value: (row) => (row.isCandidate ? "candidate" : "control"), cell: (row) => <Arm of={row} /> },
    { key: "value", title: metricName(metric), value: (row) => row.value, numeric: true, cell: (row) => measured(metric, row.value) },
    { key: "counts", title: t("incident.counts"), value: (row) => row.counts, cell: (row) => (row.counts ? t("yes") : <span class="muted">{t("no")}</span>) },
    { key: "measured_at", title: t("field.measured_at"), value: (row) => row.run.measured_at, cell: (row) => <Moment at={row.run.measured_at} /> },
    { key: "host", title: t("field.host"), value: (row) => row.run.host },
    { key: "run", title: t("field.run"), value: (row) => row.run.id, cell: (row) => <a href={`/runs/${row.run.id}`}><code>{row.run.id.slice(0, 8)}</code></a> },
  ];
  return <Table name="order" caption={t("incident.in_order")} rows={of} columns={columns} keyOf={(row) => row.run.id} most={100} />;
}

function Arm({ of }: { of: Shot }) {
  return (
    <span class="nowrap">
      <span aria-hidden="true" class={of.isCandidate ? "host-1" : "host-0"}>
        {of.isCandidate ? "■" : "●"}
      </span>{" "}
      {t(of.isCandidate ? "field.candidate" : "field.control")}
    </span>
  );
}

/** What the servers of the last control and the first candidate settled differently. */
function Settled({ control, candidate }: { control: Shot | undefined; candidate: Shot | undefined }) {
  const both = control && candidate;
  const asked = useAnswer("/api/v1/comparisons", both ? {} : null, { baseline: control?.run.id, candidate: candidate?.run.id });
  if (!both) return null;
  return (
    <>
      <h3>{t("compare.settled")}</h3>
      <Shown of={asked} lines={2}>
        {(value) => <Differences name="settled" caption={t("compare.settled")} of={value.cells[0]?.resolution ?? []} />}
      </Shown>
    </>
  );
}
