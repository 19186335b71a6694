// Rules: which stacks give a channel's cells their first baseline, without a person's pin.

import { useState } from "preact/hooks";
import { post, type Schemas } from "../../api/client";
import { useAnswer } from "../../api/use";
import { fieldsOf, useAct } from "../../parts/act";
import { Problem, Shown } from "../../parts/asked";
import { type Column, Table } from "../../parts/table";
import { WhyWho } from "../../parts/whywho";
import { count } from "../../shown/number";
import { Moment } from "../../shown/time";
import { t } from "../../words";

type Rule = Schemas["RuleRead"];

/** again: asks anew for the pins, which a rule gives as well. */
export function Rules({ again }: { again: () => void }) {
  const asked = useAnswer("/api/v1/baselines/rules");
  const [chosen, setChosen] = useState<Rule>();
  const done = () => {
    setChosen(undefined);
    asked.again();
    again();
  };
  return (
    <Shown of={asked} lines={3}>
      {(rules) => (
        <>
          <p class="muted">{t("rules.means")}</p>
          {rules.length === 0 ? <p class="muted">{t("rules.none")}</p> : <List of={rules} choose={setChosen} />}
          {chosen ? <End key={chosen.id} of={chosen} done={done} /> : <Add done={done} />}
        </>
      )}
    </Shown>
  );
}

function List({ of, choose }: { of: readonly Rule[]; choose: (rule: Rule) => void }) {
  const columns: Column<Rule>[] = [
    { key: "channel", title: t("field.channel"), value: (row) => row.channel, heads: true },
    { key: "stacks", title: t("rules.stacks"), value: (row) => row.stacks, cell: (row) => <code>{row.stacks}</code> },
    { key: "pins", title: t("rules.pins"), value: (row) => row.pins, numeric: true, cell: (row) => count(row.pins) },
    { key: "made_by", title: t("history.actor"), value: (row) => row.made_by },
    { key: "why", title: t("field.why"), value: (row) => row.why, long: true },
    { key: "made_at", title: t("history.at"), value: (row) => row.made_at, cell: (row) => <Moment at={row.made_at} brief /> },
    { key: "ended_at", title: t("field.state"), value: (row) => row.ended_at, cell: (row) => (row.ended_at ? <span class="muted">{t("rules.ended")} <Moment at={row.ended_at} brief /></span> : t("baselines.in_force")) },
    { key: "acts", title: t("field.acts"), value: () => null, cell: (row) => (row.ended_at ? "" : <button type="button" class="slim" onClick={() => choose(row)}>{t("rules.end")}</button>) },
  ];
  return <Table name="rules" caption={t("rules.title")} hideCaption rows={of} columns={columns} keyOf={(row) => row.id} classOf={(row) => (row.ended_at ? "past" : "")} most={20} />;
}

function End({ of, done }: { of: Rule; done: () => void }) {
  const { act, busy, problem } = useAct(done);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const given = fieldsOf(event.currentTarget);
    act(() => post("/api/v1/baselines/rules/{rule_id}/end", { rule_id: of.id }, given));
  };
  return (
    <form class="stackform" onSubmit={submit} aria-label={t("rules.end")}>
      <p class="whole">{t("rules.end_what", { stacks: of.stacks, channel: of.channel })}</p>
      <WhyWho />
      <button disabled={busy}>{t("rules.end")}</button>
      {problem && <Problem error={problem} />}
    </form>
  );
}

function Add({ done }: { done: () => void }) {
  const [turn, setTurn] = useState(0);
  const { act, busy, problem } = useAct(() => {
    setTurn(turn + 1);
    done();
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const given = fieldsOf(event.currentTarget);
    act(() => post("/api/v1/baselines/rules", {}, given));
  };
  return (
    <form key={turn} class="stackform" onSubmit={submit} aria-label={t("rules.add")}>
      <label class="choice">
        <span>{t("field.channel")}</span>
        <input name="channel" required maxLength={128} pattern="[A-Za-z0-9][A-Za-z0-9._+=\-]*" />
      </label>
      <label class="choice">
        <span>{t("rules.stacks")}</span>
        <input name="stacks" required maxLength={128} placeholder="p800-*" pattern="[A-Za-z0-9*?\[\]!._+=\-]+" />
      </label>
      <WhyWho />
      <button disabled={busy}>{t("rules.add")}</button>
      {problem && <Problem error={problem} />}
    </form>
  );
}
