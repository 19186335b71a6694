// The tables of a gate: verdicts by the size of the worsening, cells without one, waivers.

import type { Schemas } from "../../api/client";
import { useAnswer } from "../../api/use";
import { Shown } from "../../parts/asked";
import { Outcome, Worsening } from "../../parts/outcome";
import { type Column, Table } from "../../parts/table";
import { address } from "../../route";
import { measured, metricName } from "../../shown/metric";
import { tolerance } from "../../shown/number";
import { Moment } from "../../shown/time";
import { member, t } from "../../words";

type Cell = Schemas["GateCell"];
type Waiver = Schemas["WaiverRead"];

interface Row {
  cell: Cell;
  told: Cell["verdicts"][number];
}

function seriesOf(cell: Cell, metric?: string): string {
  return address("/series", { condition: cell.condition_key, protocol: cell.protocol_key, metric });
}

function size(row: Row): number {
  return Math.abs(row.told.verdict.worsening ?? 0);
}

export function Judged({ of }: { of: readonly Cell[] }) {
  const rows = of
    .flatMap((cell) => cell.verdicts.map((told): Row => ({ cell, told })))
    .sort((a, b) => size(b) - size(a));
  if (rows.length === 0) return <p class="muted">{t("compare.none_judged")}</p>;
  const columns: Column<Row>[] = [
    { key: "cell", title: t("field.cell"), value: ({ cell }) => cell.title, heads: true, long: true, cell: ({ cell, told }) => <a href={seriesOf(cell, told.verdict.metric)}>{cell.title}</a> },
    { key: "worsening", title: t("field.worsening"), value: ({ told }) => told.verdict.worsening, numeric: true, cell: ({ told }) => <Worsening of={told.verdict} /> },
    { key: "metric", title: t("field.metric"), value: ({ told }) => told.verdict.metric, cell: ({ told }) => metricName(told.verdict.metric) },
    { key: "outcome", title: t("field.outcome"), value: ({ told }) => told.verdict.outcome, cell: ({ told }) => <Outcome of={told.verdict.outcome} /> },
    { key: "baseline", title: t("field.base"), value: ({ told }) => told.verdict.baseline, numeric: true, wide: true, cell: ({ told }) => measured(told.verdict.metric, told.verdict.baseline) },
    { key: "candidate", title: t("field.candidate"), value: ({ told }) => told.verdict.candidate, numeric: true, wide: true, cell: ({ told }) => measured(told.verdict.metric, told.verdict.candidate) },
    { key: "tolerance", title: t("field.tolerance"), value: ({ told }) => told.verdict.tolerance, numeric: true, wide: true, cell: ({ told }) => tolerance(told.verdict.tolerance) },
    { key: "counts", title: t("gate.counts"), value: ({ told }) => told.counts, cell: ({ told }) => <Counts of={told} /> },
  ];
  return (
    <Table
      name="verdicts" caption={t("gate.judged")} hideCaption rows={rows} columns={columns}
      keyOf={({ cell, told }) => cell.condition_key + cell.protocol_key + told.verdict.metric}
    />
  );
}

function Counts({ of }: { of: Row["told"] }) {
  return (
    <>
      {member("counts", of.counts)}
      {of.waiver && <span class="muted"> {of.waiver.who}: {of.waiver.reason}</span>}
    </>
  );
}

function reasonsOf(cell: Cell): string {
  const fields = (cell.differences ?? []).map((each) => `${each.field}: ${each.baseline} → ${each.candidate}`);
  const broken = cell.broken ? [cell.broken.finding, cell.broken.remedy] : [];
  const stopped = cell.stopped ? [cell.stopped.why] : [];
  const all = [...broken, ...(cell.reasons ?? []), ...fields, ...stopped].filter(Boolean);
  return [...new Set(all)].join(" · ");
}

export function Unjudged({ of }: { of: readonly Cell[] }) {
  const rows = of.filter((cell) => cell.verdicts.length === 0);
  if (rows.length === 0) return <p class="muted">{t("gate.all_judged")}</p>;
  const columns: Column<Cell>[] = [
    { key: "cell", title: t("field.cell"), value: (row) => row.title, heads: true, long: true, cell: (row) => <a href={seriesOf(row)}>{row.title}</a> },
    { key: "outcome", title: t("field.outcome"), value: (row) => row.outcome, cell: (row) => <Outcome of={row.outcome} /> },
    { key: "reason", title: t("field.reason"), value: reasonsOf, long: true },
    { key: "launches", title: t("field.launches"), value: (row) => row.candidate_launches, numeric: true, wide: true, cell: (row) => `${row.baseline_launches} + ${row.candidate_launches}` },
  ];
  return (
    <Table
      name="unjudged" caption={t("compare.unjudged")} hideCaption rows={rows} columns={columns}
      keyOf={(row) => row.condition_key + row.protocol_key}
    />
  );
}

/** How each cell's controls were measured, and what is to be known before it is believed. */
export function Controls({ of }: { of: readonly Cell[] }) {
  const columns: Column<Cell>[] = [
    { key: "cell", title: t("field.cell"), value: (row) => row.title, heads: true, long: true, cell: (row) => <a href={seriesOf(row)}>{row.title}</a> },
    { key: "control", title: t("gate.controls"), value: (row) => row.control.kind, cell: (row) => <Control of={row} /> },
    { key: "launches", title: t("field.launches"), value: (row) => `${row.baseline_launches} + ${row.candidate_launches} / ${row.planned_launches}` },
    { key: "warnings", title: t("field.note"), value: warningsOf, long: true, cell: (row) => <span lang="en">{warningsOf(row) || "–"}</span> },
  ];
  return <Table name="controls" caption={t("gate.controls")} hideCaption rows={of} columns={columns} keyOf={(row) => row.condition_key + row.protocol_key} />;
}

function Control({ of: { control } }: { of: Cell }) {
  const word = control.kind === "interleaved" ? "gate.interleaved" : control.kind === "cached" ? "gate.cached" : "gate.no_control";
  return (
    <>
      {t(word)}
      {control.oldest && (
        <span class="muted">
          {" "}
          · {t("gate.oldest")} <Moment at={control.oldest} brief />
        </span>
      )}
    </>
  );
}

function warningsOf(cell: Cell): string {
  const said = [...(cell.warnings ?? []), ...cell.verdicts.flatMap(({ verdict }) => verdict.warnings ?? [])];
  // A cell without verdicts tells its reasons where it is listed as not judged.
  const reasons = cell.verdicts.length > 0 ? (cell.reasons ?? []) : [];
  const stopped = cell.verdicts.length > 0 && cell.stopped ? [cell.stopped.why] : [];
  return [...new Set([...said, ...reasons, ...stopped])].join(" · ");
}

/** What the servers settled differently by themselves, once for all cells that say the same. */
export function settledOf(cells: readonly Cell[]): Schemas["DifferenceRead"][] {
  const all = cells.flatMap((cell) => cell.resolution ?? []);
  return [...new Map(all.map((each) => [`${each.field} ${each.baseline} ${each.candidate}`, each])).values()];
}

export function Waivers({ plan }: { plan: string }) {
  const asked = useAnswer("/api/v1/waivers");
  return (
    <Shown of={asked} lines={2}>
      {(all) => <Those of={all.filter((each) => each.plan === plan)} />}
    </Shown>
  );
}

function Those({ of }: { of: readonly Waiver[] }) {
  if (of.length === 0) return <p class="muted">{t("gate.no_waivers")}</p>;
  const columns: Column<Waiver>[] = [
    { key: "cell", title: t("field.cell"), value: (row) => row.title, heads: true, long: true, cell: (row) => row.title ?? t("gate.every_cell") },
    { key: "metric", title: t("field.metric"), value: (row) => row.metric, cell: (row) => (row.metric ? metricName(row.metric) : t("any_metric")) },
    { key: "force", title: t("field.state"), value: (row) => row.in_force, cell: (row) => t(row.in_force ? "baselines.in_force" : "gate.waiver_over") },
    { key: "until", title: t("gate.until"), value: (row) => row.until, cell: (row) => <Moment at={row.until} /> },
    { key: "who", title: t("gate.by"), value: (row) => row.who },
    { key: "why", title: t("field.why"), value: (row) => row.why, long: true },
  ];
  return <Table name="waivers" caption={t("gate.waivers")} hideCaption rows={of} columns={columns} keyOf={(row) => row.id} />;
}
