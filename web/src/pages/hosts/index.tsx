// Hosts: who measures, whether they are heard of, and what they hold.

import { type Schemas, post } from "../../api/client";
import { useAnswer } from "../../api/use";
import { useAct } from "../../parts/act";
import { Empty, Problem, Shown } from "../../parts/asked";
import { useEvery } from "../../parts/every";
import { Heading } from "../../parts/fields";
import { State } from "../../parts/outcome";
import { type Column, Table } from "../../parts/table";
import { address } from "../../route";
import { Moment } from "../../shown/time";
import { t } from "../../words";

type Seen = Schemas["RunnerSeen"];
type RunnerState = Schemas["RunnerRead"]["state"];

const REFRESH_MS = 10_000;

export default function HostsPage() {
  const asked = useAnswer("/api/v1/overview");
  const { act, problem } = useAct<unknown>(asked.again);
  useEvery(REFRESH_MS, asked.again);
  const order = (name: string, state: RunnerState) => act(() => post("/api/v1/runners/{name}/state", { name }, { state }));
  return (
    <>
      <Heading title={t("nav.hosts")} sub={t("hosts.sub")} />
      {problem && <Problem error={problem} />}
      <Shown of={asked} lines={8}>
        {(overview) => {
          const all = overview.pools.flatMap((pool) => pool.runners);
          return all.length === 0 ? <Empty command="kunline up --runner">{t("hosts.none")}</Empty> : <Runners of={all} order={order} />;
        }}
      </Shown>
    </>
  );
}

function Runners({ of, order }: { of: Seen[]; order: (name: string, state: RunnerState) => void }) {
  const columns: Column<Seen>[] = [
    { key: "host", title: t("field.host"), value: ({ runner }) => runner.host, heads: true, cell: ({ runner }) => <a href={address("/runs", { host: runner.host })}>{runner.host}</a> },
    {
      key: "state",
      title: t("field.state"),
      value: ({ runner, fresh }) => (fresh ? runner.state : "quiet"),
      cell: ({ runner, fresh }) => (
        <span class="tags">
          <State of={runner.state} />
          {!fresh && <State of="quiet" />}
        </span>
      ),
    },
    { key: "seen_at", title: t("field.seen_at"), value: ({ runner }) => runner.seen_at, cell: ({ runner }) => <Moment at={runner.seen_at} brief /> },
    { key: "cards", title: t("field.cards"), value: ({ runner }) => runner.cards, numeric: true, cell: ({ runner }) => `${runner.cards} × ${runner.chips.join(", ")}` },
    { key: "pool", title: t("field.pool"), value: ({ runner }) => runner.pool },
    { key: "runner", title: t("field.runner"), value: ({ runner }) => runner.name },
    { key: "version", title: t("field.version"), value: ({ runner }) => runner.version, wide: true },
    { key: "job", title: t("field.job"), value: ({ runner }) => runner.job_id, cell: ({ runner }) => (runner.job_id ? <code>{runner.job_id.slice(0, 8)}</code> : <span class="muted">{t("hosts.idle")}</span>) },
    { key: "acts", title: t("field.acts"), value: () => null, cell: ({ runner }) => <Acts of={runner} order={order} /> },
  ];
  return <Table name="hosts" caption={t("nav.hosts")} hideCaption rows={of} columns={columns} sorted="host" keyOf={({ runner }) => runner.name} />;
}

function Acts({ of, order }: { of: Schemas["RunnerRead"]; order: (name: string, state: RunnerState) => void }) {
  const acts: [RunnerState, string][] =
    of.state === "active"
      ? [["paused", t("hosts.pause")], ["draining", t("hosts.drain")]]
      : [["active", t("hosts.activate")]];
  return (
    <span class="tags">
      {acts.map(([state, word]) => (
        <button key={state} type="button" class="slim" aria-label={`${word} · ${of.name}`} onClick={() => order(of.name, state)}>
          {word}
        </button>
      ))}
    </span>
  );
}
