// What more cards bring: several against one, on each stack and host, from measured cells alone.

import type { Schemas } from "../../api/client";
import { useAnswer } from "../../api/use";
import { Shown } from "../../parts/asked";
import { type Column, Table } from "../../parts/table";
import { address } from "../../route";
import { count, percent } from "../../shown/number";
import { t } from "../../words";

type Row = Schemas["ScalingRow"];
type Point = Schemas["ScalingPoint"];

interface Pair {
  row: Row;
  point: Point;
}

export function Scaling({ stacks }: { stacks: readonly [string, string] }) {
  const base = useAnswer("/api/v1/scaling", {}, { stack: stacks[0] });
  const other = useAnswer("/api/v1/scaling", {}, { stack: stacks[1] });
  const value = base.value && other.value && [...base.value.rows, ...other.value.rows];
  return (
    <Shown of={{ ...(base.problem ? base : other), value }} lines={3}>
      {(rows) => (rows.length === 0 ? <p class="muted">{t("scaling.none")}</p> : <Pairs of={rows} />)}
    </Shown>
  );
}

function Pairs({ of }: { of: readonly Row[] }) {
  const pairs = of
    .flatMap((row) => row.many.map((point): Pair => ({ row, point })))
    .sort(({ row: a }, { row: b }) => a.title.localeCompare(b.title, undefined, { numeric: true }));
  const bounds = ({ low, high }: Point) => (low == null || high == null ? "" : ` [${low.toFixed(2)}, ${high.toFixed(2)}]`);
  const columns: Column<Pair>[] = [
    { key: "cell", title: t("scaling.workload"), value: ({ row }) => row.title, heads: true, long: true, cell: ({ row, point }) => <a href={address("/series", { condition: point.condition_key, protocol: point.protocol_key })}>{row.title}</a> },
    { key: "stack", title: t("field.stack"), value: ({ row }) => row.stack.name },
    { key: "host", title: t("field.host"), value: ({ row }) => row.host, wide: true },
    { key: "cards", title: t("field.cards"), value: ({ point }) => point.cards, numeric: true, cell: ({ row, point }) => `${count(row.one.cards)} → ${count(point.cards)}` },
    { key: "speedup", title: t("scaling.speedup"), value: ({ point }) => point.speedup, numeric: true, cell: ({ point }) => <>{point.speedup.toFixed(2)}<span class="muted">{bounds(point)}</span> ×</> },
    { key: "efficiency", title: t("scaling.efficiency"), value: ({ point }) => point.efficiency, numeric: true, cell: ({ point }) => <span class={point.slower ? "ink-worse" : ""}>{percent(point.efficiency, 0, false)}{point.slower && ` ${t("scaling.slower")}`}</span> },
  ];
  return <Table name="scaling" caption={t("scaling.title")} hideCaption rows={pairs} columns={columns} keyOf={({ row, point }) => row.stack.key + row.host + point.condition_key + point.protocol_key} most={20} />;
}
