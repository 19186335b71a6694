// A session: its jobs in order, live while they run; to be cancelled, and then its verdicts.

import { useRef, useState } from "preact/hooks";
import { type Schemas, post } from "../../api/client";
import { type Live, useSession } from "../../api/live";
import { useAnswer } from "../../api/use";
import { useAct } from "../../parts/act";
import { Problem, Shown } from "../../parts/asked";
import { Facts, Heading, Key, Section } from "../../parts/fields";
import { State } from "../../parts/outcome";
import { Bar, progressOf, workOf } from "../../parts/progress";
import { type Column, Table } from "../../parts/table";
import { address } from "../../route";
import { count } from "../../shown/number";
import { Moment } from "../../shown/time";
import { member, t } from "../../words";

type Session = Schemas["SessionRead"];
type Job = Schemas["JobRead"];

export default function SessionPage({ id }: { id: string }) {
  const asked = useAnswer("/api/v1/sessions/{session_id}", { session_id: id });
  const open = asked.value && isOpen(asked.value);
  const [follow, setFollow] = useState(false);
  if (open && !follow) setFollow(true);
  const { session, live } = useSession(follow ? id : null);
  const known = session ?? asked.value;
  return (
    <>
      <Heading title={known ? `${known.plan} · ${known.id.slice(0, 8)}` : t("kind.session")} sub={known && <LiveWord of={isOpen(known) && follow ? live : "over"} />}>
        {known && isOpen(known) && <Cancel id={id} again={asked.again} />}
        {known && !isOpen(known) && (
          <a class="button" href={address("/compare", { session: id })}>
            {t("session.verdicts")}
          </a>
        )}
      </Heading>
      <Shown of={asked} lines={16}>
        {(value) => <Whole of={session ?? value} />}
      </Shown>
    </>
  );
}

function isOpen({ state }: Session): boolean {
  return state === "queued" || state === "running";
}

function Whole({ of }: { of: Session }) {
  const { ended, jobs, fraction, now } = progressOf(of);
  return (
    <>
      <Facts
        of={[
          [t("field.state"), <State of={of.state} />],
          [t("field.pool"), of.pool],
          [t("field.host"), of.host ?? "–"],
          [t("field.created_at"), <Moment at={of.created_at} />],
          [t("field.finished_at"), <Moment at={of.finished_at} />],
          [t("field.baseline"), <Baseline of={of} />],
        ]}
      />
      <Bar fraction={fraction} label={t("queue.progress", { plan: of.plan })} />
      <p class="muted" role="status">
        {t("overview.jobs", { ended: count(ended), jobs: count(jobs) })}
        {now && ` · ${now}`}
      </p>
      <Section title={t("session.jobs")}>
        <Jobs of={of.jobs} />
      </Section>
      <p>
        <a href={address("/runs", { session: of.id })}>{t("session.runs")}</a>
      </p>
    </>
  );
}

function Baseline({ of }: { of: Session }) {
  const key = of.baseline_stack_key;
  if (!key) return <>{t("session.pinned")}</>;
  const name = of.jobs.find((job) => job.stack_key === key)?.stack_name;
  return <a href={address("/matrix", { stack: key })}>{name ?? <Key of={key} />}</a>;
}

function LiveWord({ of }: { of: Live }) {
  return <span class={`live ${of}`}>{t(`live.${of}`)}</span>;
}

function Cancel({ id, again }: { id: string; again: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const { act, problem } = useAct<unknown>(again);
  const cancel = () => act(() => post("/api/v1/sessions/{session_id}/cancel", { session_id: id }));
  return (
    <>
      {problem && <Problem error={problem} />}
      <button type="button" class="danger" onClick={() => dialog.current?.showModal()}>
        {t("session.cancel")}
      </button>
      <dialog ref={dialog} aria-labelledby="cancel-title">
        <h2 id="cancel-title">{t("session.cancel_ask")}</h2>
        <p>{t("session.cancel_what")}</p>
        <form method="dialog" class="acts">
          <button>{t("session.keep")}</button>
          <button class="danger" onClick={cancel}>
            {t("session.cancel")}
          </button>
        </form>
      </dialog>
    </>
  );
}

function Jobs({ of }: { of: readonly Job[] }) {
  const columns: Column<Job>[] = [
    { key: "launch", title: t("field.place"), value: (row) => row.ordinal + 1, heads: true, numeric: true },
    { key: "stack", title: t("field.stack"), value: (row) => row.stack_name },
    { key: "state", title: t("field.state"), value: (row) => row.state, cell: (row) => <State of={row.state} /> },
    { key: "cells", title: t("kind.cells"), value: (row) => row.cells_reported, numeric: true, cell: (row) => `${count(row.cells_reported)} / ${count(row.cells)}` },
    { key: "runner", title: t("field.runner"), value: (row) => row.runner },
    { key: "attempt", title: t("field.attempt"), value: (row) => row.attempt, numeric: true, wide: true },
    { key: "now", title: t("field.seen"), value: seen, long: true },
  ];
  return <Table name="jobs" caption={t("session.jobs")} hideCaption rows={of} columns={columns} keyOf={(row) => row.id} most={200} />;
}

function seen(job: Job): string {
  if (job.broken) return `${member("layer", job.broken.layer)}: ${job.broken.finding}`;
  return job.state === "claimed" && job.progress ? workOf(job.progress) : "";
}
