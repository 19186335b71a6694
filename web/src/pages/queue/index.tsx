// The queue: what is being measured now, what waits, and what was.

import type { Schemas } from "../../api/client";
import { useSession } from "../../api/live";
import { useAnswer } from "../../api/use";
import { Empty, Shown } from "../../parts/asked";
import { useEvery } from "../../parts/every";
import { Heading, Section } from "../../parts/fields";
import { State } from "../../parts/outcome";
import { Bar, progressOf } from "../../parts/progress";
import { type Column, Table } from "../../parts/table";
import { count } from "../../shown/number";
import { Moment } from "../../shown/time";
import { t } from "../../words";

type Session = Schemas["SessionRead"];
type Schedule = Schemas["ScheduleRead"];

const REFRESH_MS = 15_000;
// A browser keeps six connections to one service; the pages need some of them.
const FOLLOWED_MAX = 2;

export default function QueuePage() {
  const asked = useAnswer("/api/v1/sessions", {}, { limit: 100 });
  useEvery(REFRESH_MS, asked.again);
  return (
    <>
      <Heading title={t("nav.queue")} sub={t("queue.sub")} />
      <Shown of={asked} lines={10}>
        {(sessions) =>
          sessions.length === 0 ? <Empty command="kunline run smoke">{t("queue.none")}</Empty> : <Both of={sessions} again={asked.again} />
        }
      </Shown>
      <Nights />
    </>
  );
}

function Nights() {
  const asked = useAnswer("/api/v1/schedules");
  if (!asked.value || asked.value.length === 0) return null;
  const columns: Column<Schedule>[] = [
    { key: "schedule", title: t("field.schedule"), value: (row) => row.name, heads: true },
    { key: "at", title: t("field.at"), value: (row) => row.at, cell: (row) => `${row.at} ${row.zone}` },
    { key: "next", title: t("field.next"), value: (row) => row.next_begin, cell: (row) => <Next of={row} /> },
    {
      key: "last",
      title: t("field.last_session"),
      value: (row) => row.last_session_id,
      cell: (row) => (row.last_session_id ? <a href={`/queue/${row.last_session_id}`}>{row.last_session_id.slice(0, 8)}</a> : null),
    },
    { key: "pool", title: t("field.pool"), value: (row) => row.pool, wide: true },
    { key: "launches", title: t("field.launches"), value: (row) => row.launches, numeric: true, cell: (row) => `${row.launches} + ${row.duplicates}`, wide: true },
    { key: "why", title: t("field.why"), value: (row) => row.why, long: true, wide: true },
  ];
  return (
    <Section title={t("queue.nights")}>
      <Table name="nights" caption={t("queue.nights")} hideCaption rows={asked.value} columns={columns} keyOf={(row) => row.name} />
    </Section>
  );
}

function Next({ of }: { of: Schedule }) {
  if (!of.next_begin) return <span class="muted">{t("queue.paused")}</span>;
  if (of.waits_for) return <span class="muted">{t("queue.waits")}</span>;
  return <Moment at={of.next_begin} brief />;
}

function Both({ of, again }: { of: readonly Session[]; again: () => void }) {
  const open = of.filter((session) => session.state === "queued" || session.state === "running");
  const closed = of.filter((session) => !open.includes(session));
  return (
    <>
      <Section title={t("queue.open")}>
        {open.length === 0 ? (
          <Empty command="kunline run smoke">{t("queue.idle")}</Empty>
        ) : (
          <ul class="cards wide">
            {open.map((session, place) => (
              <li key={session.id} class="card" data-row>
                {place < FOLLOWED_MAX ? <Followed of={session} again={again} /> : <Card of={session} />}
              </li>
            ))}
          </ul>
        )}
      </Section>
      {closed.length > 0 && (
        <Section title={t("queue.closed")}>
          <Closed of={closed} />
        </Section>
      )}
    </>
  );
}

function Followed({ of }: { of: Session; again: () => void }) {
  const { session } = useSession(of.id);
  return <Card of={session ?? of} />;
}

function Card({ of }: { of: Session }) {
  const { ended, jobs, now, fraction } = progressOf(of);
  return (
    <>
      <h3>
        <a href={`/queue/${of.id}`}>{of.plan}</a> <State of={of.state} />
      </h3>
      <Bar fraction={fraction} label={t("queue.progress", { plan: of.plan })} />
      <p class="muted">
        {t("overview.jobs", { ended: count(ended), jobs: count(jobs) })}
        {of.host && <> · {of.host}</>} · {of.pool} · <Moment at={of.created_at} brief />
      </p>
      <p class="now">{now}</p>
    </>
  );
}

function Closed({ of }: { of: readonly Session[] }) {
  const columns: Column<Session>[] = [
    { key: "session", title: t("field.session"), value: (row) => row.id, heads: true, cell: (row) => <a href={`/queue/${row.id}`}>{row.plan} <span class="muted">{row.id.slice(0, 8)}</span></a> },
    { key: "state", title: t("field.state"), value: (row) => row.state, cell: (row) => <State of={row.state} /> },
    { key: "jobs", title: t("field.jobs"), value: (row) => row.jobs.length, numeric: true },
    { key: "host", title: t("field.host"), value: (row) => row.host },
    { key: "created_at", title: t("field.created_at"), value: (row) => row.created_at, cell: (row) => <Moment at={row.created_at} brief /> },
    { key: "finished_at", title: t("field.finished_at"), value: (row) => row.finished_at, cell: (row) => <Moment at={row.finished_at} brief /> },
  ];
  return <Table name="closed" caption={t("queue.closed")} hideCaption rows={of} columns={columns} keyOf={(row) => row.id} />;
}
