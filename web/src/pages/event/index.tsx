// One change: what moved, since when, between which stacks, and the runs that show it.

import { type Schemas, post } from "../../api/client";
import { useAnswer } from "../../api/use";
import { useAct, fieldsOf } from "../../parts/act";
import { Problem, Shown } from "../../parts/asked";
import { Confirms } from "../../parts/confirms";
import { StackDiff } from "../../parts/differences";
import { causeOf } from "../../parts/events";
import { Facts, Heading, Section } from "../../parts/fields";
import { Direction } from "../../parts/outcome";
import { type Column, Table } from "../../parts/table";
import { WhyWho } from "../../parts/whywho";
import { address, go } from "../../route";
import { metricName } from "../../shown/metric";
import { percent, significant } from "../../shown/number";
import { Moment } from "../../shown/time";
import { member, t } from "../../words";

type Event = Schemas["EventRead"];
type Moved = Schemas["EventMoved"];
type Presumed = Schemas["EventPresumed"];

const RUNS_SHOWN = 40;

export default function EventPage({ id }: { id: string }) {
  const asked = useAnswer("/api/v1/events/{event_id}", { event_id: id });
  return (
    <>
      <Heading title={asked.value ? nameOf(asked.value.event) : t("kind.event")} sub={asked.value && <Sentence of={asked.value.event} />} />
      <Shown of={asked} lines={12}>
        {({ event, run_ids, confirms }) => (
          <>
            <Since of={event} />
            <Section title={t("event.moved")}>
              <MovedTable of={event.moved} />
            </Section>
            {event.presumed.length > 0 && (
              <Section title={t("event.presumed")}>
                <PresumedTable of={event.presumed} />
              </Section>
            )}
            {event.before_stack_key && event.before_stack_key !== event.stack_key && (
              <Section title={t("series.changes")}>
                <StackDiff baseline={event.before_stack_key} candidate={event.stack_key} />
              </Section>
            )}
            <Section title={t("event.runs")}>
              <Evidence of={run_ids} />
            </Section>
            <Section title={t("confirm.title")}>
              <Confirms of={confirms ?? []} />
            </Section>
            {event.before_stack_key && (
              <Section title={t("event.open")}>
                <OpenIncident of={event} />
              </Section>
            )}
          </>
        )}
      </Shown>
    </>
  );
}

function nameOf(of: Event): string {
  return t("incident.name", { metric: metricName(of.trigger), since: causeOf(of) });
}

function Sentence({ of }: { of: Event }) {
  return (
    <>
      <Direction of={of.direction} /> {of.change === null ? "" : percent(of.change)} · {t("event.candidate")}
    </>
  );
}

function Since({ of }: { of: Event }) {
  return (
    <Facts
      of={[
        [t("field.since"), <Moment key="since" at={of.change_at} />],
        [t("field.since_stack"), <a key="stack" href={address("/matrix", { stack: of.stack_key })}>{of.stack_name}</a>],
        [t("field.before"), of.before_stack_name],
        [t("field.host"), of.host ? causeOf(of) : of.hosts.join(", ")],
        [t("event.trigger"), of.metric && of.metric !== of.trigger ? `${metricName(of.trigger)} · ${metricName(of.metric)}` : metricName(of.trigger)],
        [t("field.first_seen"), <Moment key="seen" at={of.seen_at} />],
      ]}
    />
  );
}

function seriesOf(row: Moved | Presumed): string {
  return address("/series", { condition: row.condition_key, protocol: row.protocol_key, metric: row.metric, host: row.host });
}

function MovedTable({ of }: { of: readonly Moved[] }) {
  const columns: Column<Moved>[] = [
    { key: "cell", title: t("field.cell"), value: (row) => row.title, heads: true, long: true, cell: (row) => <a href={seriesOf(row)}>{row.title}</a> },
    { key: "change", title: t("event.change"), value: (row) => row.change, numeric: true, cell: (row) => percent(row.change) },
    { key: "metric", title: t("field.metric"), value: (row) => row.metric, cell: (row) => metricName(row.metric) },
    { key: "evidence", title: t("event.evidence"), value: (row) => row.evidence, numeric: true, cell: (row) => `${significant(row.evidence, 2)} σ` },
    { key: "answer", title: t("event.now"), value: (row) => row.answer, cell: (row) => row.answer && member("answer", row.answer) },
    { key: "host", title: t("field.host"), value: (row) => row.host, wide: true },
  ];
  return (
    <Table
      name="moved" caption={t("event.moved")} hideCaption rows={of} columns={columns}
      keyOf={(row) => row.condition_key + row.protocol_key + row.metric + row.host}
    />
  );
}

function PresumedTable({ of }: { of: readonly Presumed[] }) {
  const columns: Column<Presumed>[] = [
    { key: "cell", title: t("field.cell"), value: (row) => row.title, heads: true, long: true, cell: (row) => <a href={seriesOf(row)}>{row.title}</a> },
    { key: "metric", title: t("field.metric"), value: (row) => row.metric, cell: (row) => metricName(row.metric) },
    { key: "host", title: t("field.host"), value: (row) => row.host, wide: true },
  ];
  return (
    <Table
      name="presumed" caption={t("event.presumed")} hideCaption rows={of} columns={columns}
      keyOf={(row) => row.condition_key + row.protocol_key + row.metric + row.host}
    />
  );
}

function Evidence({ of }: { of: readonly string[] }) {
  if (of.length === 0) return <p class="muted">{t("event.no_runs")}</p>;
  return (
    <p class="tags">
      {of.slice(0, RUNS_SHOWN).map((run) => (
        <a key={run} href={`/runs/${run}`}>
          <code>{run.slice(0, 8)}</code>
        </a>
      ))}
      {of.length > RUNS_SHOWN && <span class="muted">{t("table.some", { shown: RUNS_SHOWN, total: of.length })}</span>}
    </p>
  );
}

/** From one change there is one incident: asked again, it is the one that is there. */
function OpenIncident({ of }: { of: Event }) {
  const { act, busy, problem } = useAct((incident: Schemas["IncidentRead"]) => go(`/incidents/${incident.id}`));
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const given = fieldsOf(event.currentTarget);
    act(() => post("/api/v1/incidents", {}, { ...given, event_id: of.id }));
  };
  return (
    <form class="stackform" onSubmit={submit} aria-label={t("event.open")}>
      <p class="whole">{t("event.open_why")}</p>
      <WhyWho />
      <button disabled={busy}>{t("event.open")}</button>
      {problem && <Problem error={problem} />}
    </form>
  );
}
