// Slow creep: metrics beyond the tolerance since the baseline, by no step of which they were.

import type { Schemas } from "../../api/client";
import { Section } from "../../parts/fields";
import { Worsening } from "../../parts/outcome";
import { type Column, Table } from "../../parts/table";
import { address } from "../../route";
import { metricName } from "../../shown/metric";
import { percent, tolerance } from "../../shown/number";
import { t } from "../../words";

type Cell = Schemas["CellComparison"];

interface Crept {
  cell: Cell;
  of: Schemas["CreepRead"];
}

export function Creep({ cells }: { cells: readonly Cell[] }) {
  const rows = cells.flatMap((cell) => (cell.creep ?? []).map((of): Crept => ({ cell, of })));
  if (rows.length === 0) return null;
  const columns: Column<Crept>[] = [
    { key: "cell", title: t("field.cell"), value: ({ cell }) => cell.title, heads: true, long: true, cell: ({ cell, of }) => <a href={address("/series", { condition: cell.condition_key, protocol: cell.protocol_key, metric: of.metric })}>{cell.title}</a> },
    { key: "worsening", title: t("creep.whole"), value: ({ of }) => of.worsening, numeric: true, cell: ({ of }) => <Worsening of={of} /> },
    { key: "metric", title: t("field.metric"), value: ({ of }) => of.metric, cell: ({ of }) => metricName(of.metric) },
    { key: "step", title: t("creep.step"), value: ({ of }) => of.step, numeric: true, cell: ({ of }) => percent(of.step) },
    { key: "accepted", title: t("creep.accepted"), value: ({ cell }) => cell.accepted_stack_name },
    { key: "tolerance", title: t("field.tolerance"), value: ({ of }) => of.tolerance, numeric: true, wide: true, cell: ({ of }) => tolerance(of.tolerance) },
  ];
  return (
    <Section title={t("creep.title")}>
      <p class="muted">{t("creep.means")}</p>
      <Table name="creep" caption={t("creep.title")} hideCaption rows={rows} columns={columns} sorted="-worsening" most={50} keyOf={({ cell, of }) => cell.condition_key + cell.protocol_key + cell.candidate_stack_key + cell.host + of.metric} />
    </Section>
  );
}
