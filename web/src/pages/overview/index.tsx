// The overview: the last night in one sentence, what it found, and whether everything is alive.

import type { Schemas } from "../../api/client";
import { type Asked, useAnswer } from "../../api/use";
import { Empty, Shown } from "../../parts/asked";
import { Events } from "../../parts/events";
import { Heading, Section } from "../../parts/fields";
import { Incidents } from "../../parts/incidents";
import { inPrecedence, State, Outcome } from "../../parts/outcome";
import { type Column, Table } from "../../parts/table";
import { useEvery } from "../../parts/every";
import { count } from "../../shown/number";
import { ago, Moment } from "../../shown/time";
import { address } from "../../route";
import { member, t } from "../../words";

type Overview = Schemas["OverviewRead"];
type Session = Overview["sessions"][number];
type Told = Schemas["CellsTold"];

const REFRESH_MS = 15_000;
const INCIDENTS = 8;

export default function OverviewPage() {
  const asked = useAnswer("/api/v1/overview");
  const open = useAnswer("/api/v1/incidents", {}, { is_open: true, limit: INCIDENTS });
  const events = useAnswer("/api/v1/events", {}, { since: newest(), limit: 5 });
  useEvery(REFRESH_MS, () => {
    asked.again();
    open.again();
    events.again();
  });
  // Nothing is drawn before what stands above it is known, so that nothing moves.
  const known = (open.value ?? open.problem) && (events.value ?? events.problem);
  return (
    <>
      <Heading title={t("nav.overview")} sub={asked.value && freshness(asked.value)} />
      <Shown of={known ? asked : { ...asked, value: undefined }} lines={14}>
        {(overview) => <Everything of={overview} open={open} events={events} />}
      </Shown>
    </>
  );
}

function freshness(of: Overview): string {
  if (!of.newest_run_at) return t("overview.nothing_yet");
  return t("overview.newest", { ago: ago(of.newest_run_at) });
}

interface Wanted {
  of: Overview;
  open: Asked<Schemas["IncidentPage"]>;
  events: Asked<Schemas["EventPage"]>;
}

function Everything({ of, open, events }: Wanted) {
  return (
    <>
      <Section title={t("overview.incidents")}>
        <Open of={open} />
      </Section>
      <Night of={of} />
      <Section title={t("overview.events")}>
        <Changes of={events} />
      </Section>
      <Section title={t("overview.sessions")}>
        {of.sessions.length === 0 ? (
          <Empty command="kunline run smoke">{t("overview.no_sessions")}</Empty>
        ) : (
          <Sessions of={of.sessions} />
        )}
      </Section>
      <div class="columns">
        <Section title={t("overview.pools")}>
          <Pools of={of} />
        </Section>
        <Section title={t("overview.channels")}>
          <Channels of={of} />
        </Section>
      </div>
      <Section title={t("overview.stored")}>
        <Totals of={of} />
      </Section>
    </>
  );
}

function Night({ of }: { of: Overview }) {
  const night = of.last_night;
  if (!night) {
    return (
      <Empty command="kunline demo">{t("overview.no_night")}</Empty>
    );
  }
  return (
    <section class="night" aria-labelledby="night">
      <h2 id="night">{t("overview.night")}</h2>
      <p class="sentence">{sentence(night.told)}</p>
      <Squares of={of} night={night.told} />
      <p class="muted">
        {t("overview.night_of", { sessions: count(night.sessions) })} <Moment at={night.until} />
        {night.untold > 0 && <> · {t("overview.untold", { sessions: count(night.untold) })}</>}
      </p>
    </section>
  );
}

/** Say in one sentence what was told of many cells: the worst first. */
export function sentence(told: Told): string {
  const parts = inPrecedence(told.outcomes)
    .filter(([outcome]) => !["improved", "unchanged", "inconclusive"].includes(outcome))
    .map(([outcome, number]) => t("overview.part", { number: count(number), word: member("outcome", outcome) }));
  return t("overview.sentence", { cells: count(told.cells), calm: count(told.no_alarm) }) + parts.map((part) => t("overview.comma") + part).join("") + t("overview.stop") + creeping(told);
}

function creeping({ creeping: number = 0 }: Told): string {
  return number > 0 ? ` ${t("overview.creeping", { number: count(number) })}` : "";
}

/** How many cells have each outcome; each leads to a session of the night in which it occurs. */
function Squares({ of, night }: { of: Overview; night: Told }) {
  const begun = of.last_night?.since ?? "";
  return (
    <ul class="squares">
      {inPrecedence(night.outcomes).map(([outcome, number]) => {
        const session = of.sessions.find(
          (each) => each.told && outcome in each.told.outcomes && Date.parse(each.finished_at ?? "") >= Date.parse(begun),
        );
        return (
          <li key={outcome}>
            <a href={session ? address("/compare", { session: session.id }) : "/queue"}>
              <Outcome of={outcome} /> <strong class="big">{count(number)}</strong>
            </a>
          </li>
        );
      })}
    </ul>
  );
}

function Open({ of }: { of: Asked<Schemas["IncidentPage"]> }) {
  return (
    <Shown of={of} lines={2}>
      {({ incidents, cursor }) =>
        incidents.length === 0 ? (
          <p class="muted">{t("overview.no_incidents")}</p>
        ) : (
          <>
            <Incidents of={incidents} brief />
            {cursor && (
              <p class="more">
                <a href="/incidents">{t("overview.all_incidents")}</a>
              </p>
            )}
          </>
        )
      }
    </Shown>
  );
}

// As many days back, from the start of today, so that the address and its answer stay the same.
const CHANGES_DAYS = 7;
const DAY_MS = 86_400_000;

function newest(): string {
  return new Date(Math.floor(Date.now() / DAY_MS - CHANGES_DAYS) * DAY_MS).toISOString();
}

function Changes({ of }: { of: Asked<Schemas["EventPage"]> }) {
  return (
    <Shown of={of} lines={3}>
      {({ events, cursor }) =>
        events.length === 0 ? (
          <p class="muted">{t("overview.no_events")}</p>
        ) : (
          <>
            <Events of={events} />
            {cursor && (
              <p class="more">
                <a href="/events">{t("overview.all_events")}</a>
              </p>
            )}
          </>
        )
      }
    </Shown>
  );
}

function Sessions({ of }: { of: Session[] }) {
  const columns: Column<Session>[] = [
    {
      key: "session",
      title: t("field.session"),
      value: (row) => row.plan,
      heads: true,
      cell: (row) => <a href={`/queue/${row.id}`}>{row.plan} <span class="muted">{row.id.slice(0, 8)}</span></a>,
    },
    { key: "state", title: t("field.state"), value: (row) => row.state, cell: (row) => <State of={row.state} /> },
    {
      key: "told",
      title: t("field.verdicts"),
      long: true,
      value: (row) => (row.told ? sentence(row.told) : null),
      cell: (row) => <Verdicts of={row} />,
    },
    {
      key: "candidates",
      title: t("field.candidates"),
      long: true,
      value: (row) => row.candidates.map((stack) => stack.name).join(" "),
      cell: (row) => <Candidates of={row} />,
    },
    { key: "host", title: t("field.host"), value: (row) => row.host, wide: true },
    {
      key: "created_at",
      title: t("field.created_at"),
      value: (row) => row.created_at,
      cell: (row) => <Moment at={row.created_at} brief />,
    },
  ];
  return (
    <Table name="sessions" caption={t("overview.sessions")} hideCaption rows={of} columns={columns} keyOf={(row) => row.id} />
  );
}

function Verdicts({ of }: { of: Session }) {
  if (!of.told) {
    return <>{t("overview.jobs", { ended: count(of.jobs_ended), jobs: count(of.jobs) })}</>;
  }
  if (of.told.cells === 0) return <span class="muted">{t("overview.no_candidates")}</span>;
  return (
    <a href={address("/compare", { session: of.id })} class="tags">
      {inPrecedence(of.told.outcomes).map(([outcome, number]) => (
        <span key={outcome} class="nowrap">
          {count(number)} <Outcome of={outcome} />
        </span>
      ))}
      {(of.told.creeping ?? 0) > 0 && <span class="tag worse">{t("overview.creeping", { number: count(of.told.creeping ?? 0) })}</span>}
    </a>
  );
}

function Candidates({ of }: { of: Session }) {
  if (of.candidates.length === 0) return <span class="muted">–</span>;
  return (
    <span class="tags">
      {of.candidates.map((stack) => (
        <a key={stack.key} href={address("/matrix", { stack: stack.key })}>
          {stack.name}
        </a>
      ))}
    </span>
  );
}

function Pools({ of }: { of: Overview }) {
  if (of.pools.length === 0) return <Empty command="kunline up --runner">{t("hosts.none")}</Empty>;
  return (
    <ul class="cards">
      {of.pools.map((pool) => (
        <li key={pool.name} class="card">
          <h3>{pool.name}</h3>
          <p>
            {t("overview.pool", { queued: count(pool.queued_jobs), running: count(pool.running_jobs) })}
          </p>
          <ul class="plain">
            {pool.runners.map(({ runner, fresh }) => (
              <li key={runner.name}>
                <a href="/hosts">{runner.host}</a> <State of={fresh ? runner.state : "quiet"} />{" "}
                <span class="muted">{t("hosts.heard", { ago: ago(runner.seen_at) })}</span>
              </li>
            ))}
          </ul>
          {pool.runners.length === 0 && <p class="muted">{t("hosts.none_in_pool")}</p>}
        </li>
      ))}
    </ul>
  );
}

function Channels({ of }: { of: Overview }) {
  if (of.channels.length === 0) {
    return <Empty command='kunline baseline pin STACK --why "first"'>{t("baselines.none")}</Empty>;
  }
  return (
    <ul class="cards">
      {of.channels.map((channel) => (
        <li key={channel.name} class="card">
          <h3>
            <a href={address("/baselines", { channel: channel.name })}>{channel.name}</a>
          </h3>
          <p>{t("overview.channel", { pins: count(channel.baselines) })}</p>
          <p class="muted">
            {t("overview.pinned")} <Moment at={channel.newest_pin_at} />
          </p>
        </li>
      ))}
    </ul>
  );
}

function Totals({ of }: { of: Overview }) {
  const shown: [string, number, string][] = [
    ...Object.entries(of.totals.runs).map(
      ([state, number]): [string, number, string] => [`${t("kind.runs")} · ${member("state", state)}`, number, address("/runs", { state })],
    ),
    [t("kind.sessions"), of.totals.sessions, "/queue"],
    [t("kind.stacks"), of.totals.stacks, "/compat"],
    [t("kind.conditions"), of.totals.conditions, "/matrix"],
  ];
  return (
    <dl class="totals">
      {shown.map(([name, number, to]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <a href={to}>{count(number)}</a>
          </dd>
        </div>
      ))}
    </dl>
  );
}
