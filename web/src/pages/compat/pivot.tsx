// The table turned: versions of one component down, of another across.

import { type Answer } from "../../api/client";
import { useAnswer } from "../../api/use";
import { Shown } from "../../parts/asked";
import { Compat } from "../../parts/compat";
import { type Column, Table } from "../../parts/table";
import { t } from "../../words";

type Turned = Answer<"/api/v1/compat/pivot">;
type Square = Turned["squares"][number];

export function Pivot({ row, column, wanted }: { row: string; column: string; wanted: object }) {
  const asked = useAnswer("/api/v1/compat/pivot", {}, { ...wanted, row, column });
  return (
    <Shown of={asked} lines={5}>
      {(turned) => (turned.rows.length === 0 ? <p class="muted">{t("compat.pivot_none")}</p> : <Squares of={turned} />)}
    </Shown>
  );
}

function statesOf(square: Square | undefined): [string, number][] {
  return Object.entries(square?.states ?? {}).map(([state, stacks]): [string, number] => [state, Number(stacks)]);
}

function Squares({ of }: { of: Turned }) {
  const found = (row: string, column: string) => of.squares.find((each) => each.row === row && each.column === column);
  const columns: Column<string>[] = [
    { key: "version", title: of.row, value: (row) => row, heads: true },
    ...of.columns.map((version): Column<string> => ({
      key: version,
      title: `${of.column} ${version}`,
      value: (row) => statesOf(found(row, version)).map(([state, stacks]) => `${state}: ${stacks}`).join(", "),
      cell: (row) => statesOf(found(row, version)).map(([state, stacks]) => <Compat key={state} of={state} more={`× ${stacks}`} />),
    })),
  ];
  return <Table name="pivot" caption={t("compat.pivot")} hideCaption rows={of.rows} columns={columns} keyOf={(row) => row} />;
}
