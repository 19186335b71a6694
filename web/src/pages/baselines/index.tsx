// Baselines: the stack that each cell is held to, who pinned it and why; and another pin.

import { useState } from "preact/hooks";
import { type Schemas, post } from "../../api/client";
import { useAnswer } from "../../api/use";
import { fieldsOf, useAct } from "../../parts/act";
import { Empty, Problem, Shown } from "../../parts/asked";
import { Choice, Heading, Section } from "../../parts/fields";
import { useLast } from "../../parts/store";
import { type Column, Table } from "../../parts/table";
import { WhyWho } from "../../parts/whywho";
import { address, changedAddress, go, usePlace } from "../../route";
import { count } from "../../shown/number";
import { Moment } from "../../shown/time";
import { t } from "../../words";
import { Moves } from "./moves";
import { Rules } from "./rules";

type Pin = Schemas["BaselineRead"];

export default function BaselinesPage() {
  const { query } = usePlace();
  const history = query.get("history") === "1";
  const asked = useAnswer("/api/v1/baselines", {}, { channel: query.get("channel"), history: history || null });
  const last = useLast(asked.value);
  const channels = [...new Set((last ?? []).map((pin) => pin.channel))];
  const now = query.get("channel");
  return (
    <>
      <Heading title={t("nav.baselines")} sub={t("baselines.sub")} />
      <form class="filters" aria-label={t("matrix.filters")} onSubmit={(event) => event.preventDefault()}>
        <Choice
          label={t("field.channel")}
          value={now ?? ""}
          options={[...new Set([...channels, ...(now ? [now] : [])])].map((channel) => [channel, channel])}
          onChange={(channel) => go(changedAddress({ channel: channel || null }))}
          any={t("any")}
        />
        <label class="tick">
          <input type="checkbox" checked={history} onChange={() => go(changedAddress({ history: history ? null : "1" }))} />
          {t("baselines.history")}
        </label>
      </form>
      <Shown of={asked} lines={10}>
        {(pins) =>
          pins.length === 0 ? <Empty command={'kunline baseline pin STACK --why "first"'}>{t("baselines.none")}</Empty> : <Pins of={pins} history={history} />
        }
      </Shown>
      {last && (
        <Section title={t("moves.title")}>
          <Moves again={asked.again} />
        </Section>
      )}
      {last && (
        <Section title={t("baselines.pin")}>
          <PinForm channel={now ?? "main"} again={asked.again} />
        </Section>
      )}
      {last && (
        <Section title={t("rules.title")}>
          <Rules again={asked.again} />
        </Section>
      )}
    </>
  );
}

function Pins({ of, history }: { of: readonly Pin[]; history: boolean }) {
  const columns: Column<Pin>[] = [
    {
      key: "cell",
      title: t("field.cell"),
      value: (row) => row.title,
      heads: true,
      long: true,
      cell: (row) => <a href={address("/series", { condition: row.condition_key, protocol: row.protocol_key, channel: row.channel })}>{row.title}</a>,
    },
    { key: "stack", title: t("field.stack"), value: (row) => row.stack_name },
    { key: "channel", title: t("field.channel"), value: (row) => row.channel },
    { key: "runs", title: t("field.runs"), value: (row) => row.runs, numeric: true, cell: (row) => <Runs of={row} /> },
    { key: "pinned_by", title: t("field.pinned_by"), value: (row) => row.pinned_by },
    { key: "why", title: t("field.why"), value: (row) => row.why, long: true },
    { key: "pinned_at", title: t("field.pinned_at"), value: (row) => row.pinned_at, cell: (row) => <Moment at={row.pinned_at} brief /> },
    ...(history
      ? [{ key: "replaced_at", title: t("field.replaced_at"), value: (row: Pin) => row.replaced_at, cell: (row: Pin) => (row.replaced_at ? <Moment at={row.replaced_at} brief /> : t("baselines.in_force")) }]
      : []),
  ];
  return (
    <Table
      name="baselines"
      caption={t("nav.baselines")}
      hideCaption
      rows={of}
      columns={columns}
      sorted="cell"
      keyOf={(row) => row.id}
      classOf={(row) => (row.replaced_at ? "past" : "")}
    />
  );
}

function Runs({ of }: { of: Pin }) {
  const withdrawn = of.withdrawn_runs ?? 0;
  return (
    <>
      {count(of.runs ?? 0)}
      {withdrawn > 0 && <span class="muted"> {t("baselines.withdrawn", { runs: count(withdrawn) })}</span>}
    </>
  );
}

function PinForm({ channel, again }: { channel: string; again: () => void }) {
  const stacks = useAnswer("/api/v1/stacks", {}, { limit: 200 });
  const [said, setSaid] = useState("");
  const { act, busy, problem } = useAct((pins: readonly Pin[]) => {
    setSaid(t("baselines.pinned", { cells: count(pins.length) }));
    again();
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const given = fieldsOf(form);
    setSaid("");
    act(async () => {
      const pins = await post("/api/v1/baselines", {}, given);
      form.reset();
      return pins;
    });
  };
  return (
    <form class="stackform" onSubmit={submit} aria-label={t("baselines.pin")}>
      <label class="choice">
        <span>{t("field.stack")}</span>
        <select name="stack_key" required>
          <option value="">{t("compare.choose_one")}</option>
          {(stacks.value ?? []).map((each) => (
            <option key={each.key} value={each.key}>
              {each.stack.name}
            </option>
          ))}
        </select>
      </label>
      <label class="choice">
        <span>{t("field.channel")}</span>
        <input name="channel" required pattern="[A-Za-z0-9][A-Za-z0-9._+=\-]*" defaultValue={channel} />
      </label>
      <WhyWho />
      <button class="strong" disabled={busy}>{t("baselines.pin_act")}</button>
      <p role="status">{said}</p>
      {problem && <Problem error={problem} />}
    </form>
  );
}
