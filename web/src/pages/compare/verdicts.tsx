// The verdicts of a comparison: the largest worsening first; then what was not judged, and why.

import type { Schemas } from "../../api/client";
import { Outcome, toneOf, Worsening } from "../../parts/outcome";
import { Section } from "../../parts/fields";
import { type Column, Table } from "../../parts/table";
import { address } from "../../route";
import { measured, metricName } from "../../shown/metric";
import { percent, tolerance } from "../../shown/number";
import { member, t } from "../../words";

type Cell = Schemas["CellComparison"];
type Verdict = Schemas["VerdictRead"];

interface Line {
  cell: Cell;
  verdict: Verdict;
}

export function Judged({ cells }: { cells: Cell[] }) {
  const lines = cells.flatMap((cell) => cell.comparison.verdicts.map((verdict) => ({ cell, verdict })));
  const judged = lines.filter(({ verdict }) => verdict.worsening !== null);
  if (judged.length === 0) return <p class="muted">{t("compare.none_judged")}</p>;
  const columns: Column<Line>[] = [
    {
      key: "cell",
      title: t("field.cell"),
      value: ({ cell }) => cell.title,
      heads: true,
      long: true,
      cell: ({ cell, verdict }) => (
        <a href={address("/series", { condition: cell.condition_key, protocol: cell.protocol_key, metric: verdict.metric })}>
          {cell.title}
        </a>
      ),
    },
    { key: "size", title: t("field.worsening"), value: ({ verdict }) => Math.abs(verdict.worsening ?? 0), numeric: true, cell: ({ verdict }) => <Worsening of={verdict} tone={toneOf(verdict.outcome)} /> },
    { key: "worsening", title: "", value: ({ verdict }) => verdict.worsening, saved: true },
    { key: "low", title: "", value: ({ verdict }) => verdict.low, saved: true },
    { key: "high", title: "", value: ({ verdict }) => verdict.high, saved: true },
    { key: "metric", title: t("field.metric"), value: ({ verdict }) => verdict.metric, cell: ({ verdict }) => metricName(verdict.metric) },
    { key: "outcome", title: t("field.outcome"), value: ({ verdict }) => verdict.outcome, cell: ({ verdict }) => <Outcome of={verdict.outcome} /> },
    { key: "baseline", title: t("field.baseline"), value: ({ verdict }) => verdict.baseline, numeric: true, cell: ({ verdict }) => measured(verdict.metric, verdict.baseline) },
    { key: "candidate", title: t("field.candidate"), value: ({ verdict }) => verdict.candidate, numeric: true, cell: ({ verdict }) => measured(verdict.metric, verdict.candidate) },
    { key: "tolerance", title: t("field.tolerance"), value: ({ verdict }) => verdict.tolerance, numeric: true, wide: true, cell: ({ verdict }) => tolerance(verdict.tolerance) },
    {
      key: "smallest_detectable",
      title: t("field.detectable"),
      value: ({ verdict }) => verdict.smallest_detectable,
      numeric: true,
      wide: true,
      cell: ({ verdict }) => verdict.smallest_detectable !== null && percent(verdict.smallest_detectable, 1, false),
    },
    { key: "host", title: t("field.host"), value: ({ cell }) => cell.host, wide: true },
    {
      key: "launches",
      title: t("field.launches"),
      value: ({ cell }) => `${cell.baseline_launches} + ${cell.candidate_launches}`,
      cell: ({ cell }) => <span title={cell.against ? member("against", cell.against) : ""}>{`${cell.baseline_launches} + ${cell.candidate_launches}`}</span>,
      wide: true,
    },
  ];
  return (
    <Table
      name="verdicts"
      caption={t("compare.by_size")}
      rows={judged}
      columns={columns}
      sorted="-size"
      most={30}
      keyOf={({ cell, verdict }) => `${cell.condition_key}${cell.protocol_key}${cell.candidate_stack_key}${cell.host}${verdict.metric}`}
    />
  );
}

interface Reason {
  cell: Cell;
  metric: string;
  outcome: string;
  reason: string;
}

export function Refused({ cells }: { cells: Cell[] }) {
  const lines = cells.flatMap(reasons);
  if (lines.length === 0) return null;
  const columns: Column<Reason>[] = [
    { key: "cell", title: t("field.cell"), value: ({ cell }) => cell.title, heads: true, long: true },
    { key: "metric", title: t("field.metric"), value: ({ metric }) => metric, cell: ({ metric }) => (metric ? metricName(metric) : t("any_metric")) },
    { key: "outcome", title: t("field.outcome"), value: ({ outcome }) => outcome, cell: ({ outcome }) => <Outcome of={outcome} /> },
    { key: "reason", title: t("field.reason"), value: ({ reason }) => reason, long: true, cell: ({ reason }) => <span lang="en">{reason}</span> },
  ];
  return (
    <Section title={t("compare.unjudged")}>
      <Table
        name="unjudged"
        caption={t("compare.unjudged")}
        hideCaption
        rows={lines}
        columns={columns}
        keyOf={({ cell, metric }) => `${cell.condition_key}${cell.candidate_stack_key}${cell.host}${metric}`}
      />
    </Section>
  );
}

function reasons(cell: Cell): Reason[] {
  const unjudged = cell.comparison.verdicts.filter(({ worsening }) => worsening === null);
  if (!cell.comparison.comparable || (unjudged.length === 0 && cell.comparison.verdicts.length === 0)) {
    const fields = cell.comparison.differences.map((each) => `${each.field}: ${each.baseline} → ${each.candidate}`);
    const said = [...fields, ...cell.comparison.warnings].join("; ");
    return [{ cell, metric: "", outcome: cell.comparison.outcome, reason: said }];
  }
  // What holds for the whole cell is said once.
  const [first, ...others] = unjudged;
  const whole = unjudged.length === cell.comparison.verdicts.length;
  if (first && whole && others.every(({ reason }) => reason === first.reason)) {
    return [{ cell, metric: "", outcome: first.outcome, reason: first.reason }];
  }
  return unjudged.map(({ metric, outcome, reason }) => ({ cell, metric, outcome, reason }));
}
