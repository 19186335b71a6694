// Every move of baselines: what took whose place, by whom and why; the newest may be undone.

import { useState } from "preact/hooks";
import { post, type Schemas } from "../../api/client";
import { useAnswer } from "../../api/use";
import { fieldsOf, useAct } from "../../parts/act";
import { Problem, Shown } from "../../parts/asked";
import { type Column, Table } from "../../parts/table";
import { WhyWho } from "../../parts/whywho";
import { changedAddress, usePlace } from "../../route";
import { count } from "../../shown/number";
import { Moment } from "../../shown/time";
import { member, t } from "../../words";

type Move = Schemas["MoveRead"];

export function Moves({ again }: { again: () => void }) {
  const { query } = usePlace();
  const asked = useAnswer("/api/v1/baselines/moves", {}, { channel: query.get("channel"), cursor: query.get("moves"), limit: 20 });
  const [chosen, setChosen] = useState<Move>();
  const done = () => {
    setChosen(undefined);
    asked.again();
    again();
  };
  return (
    <Shown of={asked} lines={4}>
      {(page) =>
        page.moves.length === 0 ? (
          <p class="muted">{t("moves.none")}</p>
        ) : (
          <>
            <List of={page.moves} choose={setChosen} />
            {page.cursor && (
              <p class="more">
                <a href={changedAddress({ moves: page.cursor })}>{t("moves.older")}</a>
              </p>
            )}
            {chosen && <Undo key={chosen.id} of={chosen} done={done} />}
          </>
        )
      }
    </Shown>
  );
}

function named(of: Move, side: "from_stack_name" | "to_stack_name"): string {
  return [...new Set(of.cells.map((cell) => cell[side] ?? "–"))].join(", ");
}

function List({ of, choose }: { of: readonly Move[]; choose: (move: Move) => void }) {
  const columns: Column<Move>[] = [
    { key: "made_at", title: t("history.at"), value: (row) => row.made_at, heads: true, cell: (row) => <Moment at={row.made_at} brief /> },
    { key: "kind", title: t("history.act"), value: (row) => row.kind, cell: (row) => <Kind of={row} /> },
    { key: "moved", title: t("moves.moved"), value: (row) => `${named(row, "from_stack_name")} → ${named(row, "to_stack_name")}`, long: true },
    { key: "cells", title: t("kind.cells"), value: (row) => row.cells.length, numeric: true, cell: (row) => count(row.cells.length) },
    { key: "made_by", title: t("history.actor"), value: (row) => row.made_by },
    { key: "why", title: t("field.why"), value: (row) => row.why, long: true },
    {
      key: "acts", title: t("field.acts"), value: () => null,
      cell: (row) => (row.undone_by ? <span class="muted">{t("moves.undone")}</span> : <button type="button" class="slim" onClick={() => choose(row)}>{t("moves.undo")}</button>),
    },
  ];
  return <Table name="moves" caption={t("moves.title")} hideCaption rows={of} columns={columns} keyOf={(row) => row.id} classOf={(row) => (row.undone_by ? "past" : "")} />;
}

function Kind({ of }: { of: Move }) {
  return (
    <>
      {member("move", of.kind)} {of.release}{" "}
      {of.incident_id && <a href={`/incidents/${of.incident_id}`}>{t("kind.incident")}</a>}
    </>
  );
}

function Undo({ of, done }: { of: Move; done: () => void }) {
  const { act, busy, problem } = useAct(done);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const given = fieldsOf(event.currentTarget);
    act(() => post("/api/v1/baselines/moves/{move_id}/undo", { move_id: of.id }, given));
  };
  return (
    <form class="stackform" onSubmit={submit} aria-label={t("moves.undo")}>
      <p class="whole">{t("moves.undo_what", { cells: count(of.cells.length), stack: named(of, "from_stack_name") })}</p>
      <WhyWho />
      <button disabled={busy}>{t("moves.undo")}</button>
      {problem && <Problem error={problem} />}
    </form>
  );
}
