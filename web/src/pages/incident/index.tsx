// One incident: what moved, where and since when; the evidence; what people said of it.

import type { Schemas } from "../../api/client";
import { useAnswer } from "../../api/use";
import { Shown } from "../../parts/asked";
import { StackDiff } from "../../parts/differences";
import { Confirms } from "../../parts/confirms";
import { Facts, Heading, Section } from "../../parts/fields";
import { cellsOf, estimateOf, foremost, nameOf, type Incident, type IncidentCell, TriageWord } from "../../parts/incidents";
import { Direction, Worsening } from "../../parts/outcome";
import { type Column, Table } from "../../parts/table";
import { address, changedAddress, usePlace } from "../../route";
import { metricName } from "../../shown/metric";
import { count, percent } from "../../shown/number";
import { Moment } from "../../shown/time";
import { t } from "../../words";
import { Attributions } from "./attribution";
import { Evidence } from "./evidence";
import { History } from "../../parts/history";
import { Regroup } from "./regroup";
import { Triage } from "./triage";

type Detail = Schemas["IncidentDetail"];

export default function IncidentPage({ id }: { id: string }) {
  const asked = useAnswer("/api/v1/incidents/{incident_id}", { incident_id: id });
  return (
    <>
      <Heading title={asked.value ? nameOf(asked.value.incident) : t("kind.incident")} sub={asked.value && <Sentence of={asked.value.incident} />} />
      <Shown of={asked} lines={18}>
        {(detail) => <Whole of={detail} again={asked.again} />}
      </Shown>
    </>
  );
}

function Sentence({ of }: { of: Incident }) {
  const most = foremost(of);
  return (
    <>
      <Direction of={of.direction} /> {most && percent(most.change)} · <TriageWord of={of} /> · {t(of.is_open ? "incident.frozen" : "incident.free")}
    </>
  );
}

function Whole({ of, again }: { of: Detail; again: () => void }) {
  const { incident } = of;
  return (
    <>
      <Where of={incident} />
      {incident.comment && <p class="notice pre">{incident.comment}</p>}
      <Section title={t("event.moved")}>
        <Moved of={incident} />
      </Section>
      <Evidence of={incident} />
      {(of.confirms.length > 0 || incident.cells.every((cell) => !cell.session_id)) && (
        <Section title={t("confirm.title")}>
          <Confirms of={of.confirms} />
        </Section>
      )}
      <Section title={t("incident.stacks")}>
        <StackDiff baseline={incident.baseline_stack_key} candidate={incident.candidate_stack_key} />
      </Section>
      <Section title={t("attribution.title")}>
        <Attributions of={of.attributions ?? []} incident={incident.id} />
      </Section>
      <Section title={t("field.triage")}>
        <Triage of={incident} again={again} />
        <Regroup of={incident} />
      </Section>
      <Section title={t("history.title")}>
        <History of={of.history} />
      </Section>
    </>
  );
}

function Where({ of }: { of: Incident }) {
  return (
    <Facts
      of={[
        [t("field.first_seen"), <Moment key="seen" at={of.seen_at} />],
        [t("field.since_stack"), <a key="stack" href={address("/matrix", { stack: of.candidate_stack_key })}>{of.candidate_stack_name}</a>],
        [t("field.baseline"), <a key="base" href={address("/compare", { baseline: of.baseline_stack_key, candidate: of.candidate_stack_key })}>{of.baseline_stack_name}</a>],
        [t("kind.cells"), of.host ? `${count(cellsOf(of))} · ${t("events.is_host", { host: of.host })}` : count(cellsOf(of))],
        [t("field.owner"), of.owner],
        [t("field.due"), of.due],
        [t("incident.opened"), <span key="opened">{of.opened_by} · <Moment at={of.opened_at} brief /></span>],
        [t("incident.answered"), <Moment key="answered" at={of.triaged_at} brief />],
        ...(of.verified_at
          ? ([[t("incident.verified"), <span key="verified">{of.verified_stack_name} · <Moment at={of.verified_at} brief /></span>]] as [string, preact.ComponentChildren][])
          : []),
        ...(of.event_id ? ([[t("kind.event"), <a key="event" href={`/events/${of.event_id}`}><code>{of.event_id.slice(0, 8)}</code></a>]] as [string, preact.ComponentChildren][]) : []),
        ...(of.merged_into ? ([[t("incident.part_of"), <a key="whole" href={`/incidents/${of.merged_into}`}><code>{of.merged_into.slice(0, 8)}</code></a>]] as [string, preact.ComponentChildren][]) : []),
        ...(of.merged.length > 0
          ? ([[t("incident.parts"), <span key="parts" class="tags">{of.merged.map((part) => <a key={part} href={`/incidents/${part}`}><code>{part.slice(0, 8)}</code></a>)}</span>]] as [string, preact.ComponentChildren][])
          : []),
        ...(of.links.length > 0
          ? ([[t("field.links"), <span key="links" class="tags">{of.links.map((link) => <a key={link} href={link} target="_blank" rel="noreferrer">{link}</a>)}</span>]] as [string, preact.ComponentChildren][])
          : []),
      ]}
    />
  );
}

/** Return how a metric of a cell is named in the address. */
export function placeOf(cell: IncidentCell): string {
  return `${cell.condition_key.slice(0, 12)}.${cell.protocol_key.slice(0, 12)}.${cell.metric}`;
}

function Moved({ of }: { of: Incident }) {
  const { query } = usePlace();
  const chosen = query.get("cell") ?? (foremost(of) && placeOf(foremost(of) as IncidentCell));
  const columns: Column<IncidentCell>[] = [
    {
      key: "cell", title: t("field.cell"), value: (row) => row.title, heads: true, long: true,
      cell: (row) => <a href={address("/series", { condition: row.condition_key, protocol: row.protocol_key, metric: row.metric })}>{row.title}</a>,
    },
    { key: "change", title: t("field.worsening"), value: (row) => row.change, numeric: true, cell: (row) => <Worsening of={estimateOf(row)} /> },
    { key: "metric", title: t("field.metric"), value: (row) => row.metric, cell: (row) => metricName(row.metric) },
    {
      key: "session", title: t("incident.seen_by"), value: (row) => row.session_id,
      cell: (row) => (row.session_id ? <a href={address("/compare", { session: row.session_id })}>{t("incident.by_confirm")}</a> : t("incident.by_screen")),
    },
    { key: "runs", title: t("field.runs"), value: (row) => row.run_ids.length, numeric: true, wide: true },
    {
      key: "evidence", title: t("incident.evidence"), value: () => null,
      cell: (row) => (placeOf(row) === chosen ? <span class="tag calm">{t("incident.shown")}</span> : <a href={changedAddress({ cell: placeOf(row) })}>{t("incident.show")}</a>),
    },
  ];
  return <Table name="moved" caption={t("event.moved")} hideCaption rows={of.cells} columns={columns} sorted="-change" keyOf={placeOf} most={100} />;
}
