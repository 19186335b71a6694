// The lines of the compatibility table, and the constraints that somebody declared.

import type { Schemas } from "../../api/client";
import { useAnswer } from "../../api/use";
import { Shown } from "../../parts/asked";
import { Compat } from "../../parts/compat";
import { type Column, Table } from "../../parts/table";
import { address } from "../../route";
import { metricName } from "../../shown/metric";
import { interval, worsening } from "../../shown/number";
import { Moment } from "../../shown/time";
import { language, member, t } from "../../words";

type Line = Schemas["CompatEntry"];
type Cell = Schemas["CompatCell"];
type Constraint = Schemas["DeclaredRead"];

function stateOf(row: Line) {
  const layer = row.told.chief?.layer;
  return <Compat of={row.state} word={row.state === "broken" && layer ? t("compat.at", { layer: member("layer", layer) }) : undefined} />;
}

function saidOf(cell: Cell | null | undefined): string {
  if (!cell) return "";
  if (cell.finding) return cell.finding;
  if (cell.metric === null || cell.worsening === null) return "";
  return `${metricName(cell.metric)} ${worsening(cell)} ${interval(cell)}`;
}

function evidenceOf(row: Line) {
  const run = row.told.chief?.run_id;
  if (!run) return <span class="muted">–</span>;
  return (
    <a href={`/runs/${run}`}>
      <code>{run.slice(0, 8)}</code>
    </a>
  );
}

export function Lines({ of }: { of: readonly Line[] }) {
  const columns: Column<Line>[] = [
    { key: "stack", title: t("field.stack"), value: (row) => row.stack_name, heads: true, long: true, cell: (row) => <a href={address("/matrix", { stack: row.stack_key })}>{row.stack_name}</a> },
    { key: "state", title: t("field.state"), value: (row) => row.state, cell: stateOf },
    { key: "card_model", title: t("field.card_model"), value: (row) => row.card_model },
    { key: "model", title: t("field.model"), value: (row) => row.model },
    { key: "said", title: t("field.seen"), value: (row) => saidOf(row.told.chief), long: true },
    { key: "evidence", title: t("compat.evidence"), value: (row) => row.told.chief?.run_id, cell: evidenceOf },
    { key: "measured_at", title: t("field.measured_at"), value: (row) => row.measured_at, cell: (row) => (row.measured_at ? <Moment at={row.measured_at} brief /> : "–") },
    { key: "odds", title: t("compat.contradictions"), value: (row) => (row.contradictions ?? []).join(" · "), wide: true },
    { key: "upgrade", title: t("nav.upgrade"), value: () => "", wide: true, cell: (row) => <a href={address("/upgrade", { to: row.stack_key, model: row.model })}>{t("compat.ask")}</a> },
  ];
  return (
    <Table
      name="compat" caption={t("nav.compat")} hideCaption rows={of} columns={columns}
      keyOf={(row) => `${row.stack_key} ${row.card_model} ${row.model}`}
    />
  );
}

export function Declared() {
  const asked = useAnswer("/api/v1/compat/constraints");
  return (
    <Shown of={asked} lines={3}>
      {(all) => (all.length === 0 ? <p class="muted">{t("compat.none_declared")}</p> : <Constraints of={all} />)}
    </Shown>
  );
}

function Constraints({ of }: { of: readonly Constraint[] }) {
  const columns: Column<Constraint>[] = [
    { key: "name", title: t("compat.constraint"), value: (row) => row.constraint.name, heads: true },
    { key: "words", title: t("compat.words"), value: (row) => row.said?.[language.get()] ?? row.words, long: true },
    { key: "broken_by", title: t("compat.broken_by"), value: (row) => row.broken_by, numeric: true },
    { key: "odds", title: t("compat.contradicted_by"), value: (row) => row.contradicted_by.join(", "), long: true },
    { key: "by", title: t("compat.declared_by"), value: (row) => row.declared_by, wide: true },
    { key: "at", title: t("compat.declared_at"), value: (row) => row.declared_at, wide: true, cell: (row) => <Moment at={row.declared_at} brief /> },
  ];
  return <Table name="constraints" caption={t("compat.declared")} hideCaption rows={of} columns={columns} keyOf={(row) => row.constraint.name} />;
}
