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
    </>
  );
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
      <p class="now" lang="en">
        {now}
      </p>
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
