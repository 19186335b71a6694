// A table of incidents, on whichever page lists some; and what one is called.

import type { Schemas } from "../api/client";
import { address } from "../route";
import { metricName } from "../shown/metric";
import { count, type Estimated, percent } from "../shown/number";
import { Moment } from "../shown/time";
import { member, t } from "../words";
import { Direction, Worsening } from "./outcome";
import { type Column, Table } from "./table";

export type Incident = Schemas["IncidentRead"];
export type IncidentCell = Schemas["IncidentCellRead"];

/** Return what moved most among that which an incident lists. */
export function foremost(of: Incident): IncidentCell | undefined {
  return [...of.cells].sort((a, b) => Math.abs(b.change) - Math.abs(a.change))[0];
}

/** Return an incident's name in the reader's language: what moved most, and since which stack. */
export function nameOf(of: Incident): string {
  const most = foremost(of);
  const since = of.host ? t("events.is_host", { host: of.host }) : of.candidate_stack_name;
  return most ? t("incident.name", { metric: metricName(most.metric), since }) : of.title;
}

export function cellsOf(of: Incident): number {
  return new Set(of.cells.map((cell) => cell.condition_key + cell.protocol_key)).size;
}

/** What a person said of an incident, and whether it still holds its baselines. */
export function TriageWord({ of }: { of: Incident }) {
  const tone = of.triage === "open" ? "worse" : of.is_open ? "unsure" : "calm";
  return (
    <span class="tags">
      <span class={`tag ${tone}`}>{member("triage", of.triage)}</span>
      {of.verified_at && <span class="tag calm">{t("incident.verified")}</span>}
    </span>
  );
}

export function estimateOf(cell: IncidentCell): Estimated {
  return { worsening: cell.change, low: cell.low, high: cell.high };
}

export function Incidents({ of, brief = false }: { of: readonly Incident[]; brief?: boolean }) {
  const columns: Column<Incident>[] = [
    {
      key: "incident",
      title: t("kind.incident"),
      value: nameOf,
      heads: true,
      long: true,
      cell: (row) => (
        <a href={`/incidents/${row.id}`}>
          <Direction of={row.direction} />
          {nameOf(row)}
        </a>
      ),
    },
    {
      key: "change",
      title: t("field.worsening"),
      value: (row) => foremost(row)?.change,
      numeric: true,
      cell: (row) => <Most of={foremost(row)} />,
    },
    { key: "triage", title: t("field.triage"), value: (row) => row.triage, cell: (row) => <TriageWord of={row} /> },
    { key: "cells", title: t("kind.cells"), value: cellsOf, numeric: true, cell: (row) => count(cellsOf(row)) },
    { key: "seen_at", title: t("field.first_seen"), value: (row) => row.seen_at, cell: (row) => <Moment at={row.seen_at} brief /> },
    { key: "owner", title: t("field.owner"), value: (row) => row.owner },
    { key: "due", title: t("field.due"), value: (row) => row.due, cell: (row) => <Due of={row} /> },
    ...(brief
      ? []
      : [
          { key: "baseline", title: t("field.baseline"), value: (row: Incident) => row.baseline_stack_name, wide: true },
          {
            key: "candidate",
            title: t("field.candidate"),
            value: (row: Incident) => row.candidate_stack_name,
            wide: true,
            cell: (row: Incident) => (
              <a href={address("/compare", { baseline: row.baseline_stack_key, candidate: row.candidate_stack_key })}>{row.candidate_stack_name}</a>
            ),
          },
        ]),
  ];
  return <Table name="incidents" caption={t("nav.incidents")} hideCaption rows={of} columns={columns} keyOf={(row) => row.id} />;
}

function Most({ of }: { of: IncidentCell | undefined }) {
  if (!of) return <span class="muted">–</span>;
  return of.low === null ? <>{percent(of.change)}</> : <Worsening of={estimateOf(of)} />;
}

const DAY_MS = 86_400_000;

function Due({ of }: { of: Incident }) {
  if (!of.due) return <span class="muted">–</span>;
  const late = of.is_open && Date.parse(of.due) + DAY_MS < Date.now();
  return (
    <span class={late ? "ink-worse nowrap" : "nowrap"}>
      {of.due}
      {late && ` ${t("incident.late")}`}
    </span>
  );
}
