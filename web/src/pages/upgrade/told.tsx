// What the advisor says: the word, what it costs, what is missing and how to measure it.

import type { Schemas } from "../../api/client";
import { Compat } from "../../parts/compat";
import { Components, Differences } from "../../parts/differences";
import { Facts, Section } from "../../parts/fields";
import { Outcome, Worsening } from "../../parts/outcome";
import { type Column, Table } from "../../parts/table";
import { address } from "../../route";
import { metricName } from "../../shown/metric";
import { Moment } from "../../shown/time";
import { language, member, t } from "../../words";

type Advice = Schemas["AdviceRead"];
type Cell = Schemas["CellAdvice"];
type Constraint = Schemas["ConstraintFinding"];

const SIGNS: Record<string, string> = { yes: "✓", "yes, with costs": "▲", no: "✕", unknown: "?" };
const TONES: Record<string, string> = { yes: "calm", "yes, with costs": "worse", no: "bad", unknown: "unsure" };

export function Told({ of }: { of: Advice }) {
  return (
    <>
      <p class="notice" role="status">
        <span class={`tag ${TONES[of.answer] ?? "bad"}`}>
          <span aria-hidden="true">{SIGNS[of.answer] ?? ""} </span>
          {member("advice", of.answer)}
        </span>{" "}
        <span>{of.said[language.get()].replace(/^[^:：]*[:：] ?/, "")}</span>
      </p>
      <Known of={of} />
      {of.command && (
        <Section title={t("upgrade.missing")}>
          <pre class="scroll" tabIndex={0}>
            <code>{of.command}</code>
          </pre>
        </Section>
      )}
      <Section title={t("upgrade.cells")}>
        <Cells of={of.cells} />
      </Section>
      <Section title={t("compare.stacks", { baseline: of.baseline.name, candidate: of.candidate.name })}>
        <Components name="components" of={of.changes} />
      </Section>
      {of.constraints.length > 0 && (
        <Section title={t("compat.declared")}>
          <Constraints of={of.constraints} />
        </Section>
      )}
      {of.nearest && (
        <Section title={t("upgrade.nearest")}>
          <p>
            {of.nearest.stack.name} <Compat of={of.nearest.state} />
          </p>
          <Differences name="nearest" caption={t("upgrade.nearest")} of={of.nearest.differences} />
        </Section>
      )}
    </>
  );
}

function Known({ of }: { of: Advice }) {
  return (
    <Facts
      of={[
        [t("upgrade.from"), of.baseline.name],
        [t("upgrade.to"), of.candidate.name],
        [t("field.scope"), of.scope && member("scope", of.scope)],
        [t("upgrade.moves_with"), of.moves_with.join(", ") || "–"],
        [t("upgrade.evidence_from"), of.evidence_from && <Moment key="from" at={of.evidence_from} brief />],
      ]}
    />
  );
}

function worst(cell: Cell): Cell["verdicts"][number] | undefined {
  return [...cell.verdicts].sort((a, b) => (b.worsening ?? -Infinity) - (a.worsening ?? -Infinity))[0];
}

function changeOf(cell: Cell) {
  const found = worst(cell);
  if (!found) return <span class="muted">–</span>;
  return (
    <>
      {metricName(found.metric)} <Worsening of={found} />
    </>
  );
}

function Cells({ of }: { of: readonly Cell[] }) {
  if (of.length === 0) return <p class="muted">{t("upgrade.no_cells")}</p>;
  const columns: Column<Cell>[] = [
    { key: "cell", title: t("field.cell"), value: (row) => row.title, heads: true, long: true, cell: (row) => <a href={address("/series", { condition: row.condition_key, protocol: row.protocol_key })}>{row.title}</a> },
    { key: "standing", title: t("field.state"), value: (row) => row.standing, cell: (row) => member("standing", row.standing) },
    { key: "outcome", title: t("field.outcome"), value: (row) => row.outcome, cell: (row) => (row.outcome ? <Outcome of={row.outcome} /> : "–") },
    { key: "change", title: t("upgrade.change"), value: (row) => worst(row)?.worsening, numeric: true, cell: changeOf },
    { key: "finding", title: t("field.seen"), value: (row) => row.finding, long: true, wide: true },
    { key: "host", title: t("field.host"), value: (row) => row.host, wide: true },
    { key: "measured_at", title: t("field.measured_at"), value: (row) => row.measured_at, cell: (row) => (row.measured_at ? <Moment at={row.measured_at} brief /> : "–") },
  ];
  return (
    <Table
      name="advice" caption={t("upgrade.cells")} hideCaption rows={of} columns={columns}
      keyOf={(row) => row.condition_key + row.protocol_key}
    />
  );
}

function heldOf(row: Constraint): string {
  const behind = row.stays_behind ?? [];
  const words = [member("held", row.held), behind.length > 0 && behind.join(", "), row.contradicted && t("upgrade.contradicted")];
  return words.filter(Boolean).join(" · ");
}

function Constraints({ of }: { of: readonly Constraint[] }) {
  const columns: Column<Constraint>[] = [
    { key: "name", title: t("compat.constraint"), value: (row) => row.name, heads: true },
    { key: "words", title: t("compat.words"), value: (row) => row.said?.[language.get()] ?? row.words, long: true },
    { key: "held", title: t("field.state"), value: heldOf },
    { key: "source", title: t("upgrade.source"), value: (row) => row.source, wide: true },
  ];
  return <Table name="constraints" caption={t("compat.declared")} hideCaption rows={of} columns={columns} keyOf={(row) => row.name} />;
}
