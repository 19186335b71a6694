// A table of changes that the screen saw, on whichever page lists some.

import type { Schemas } from "../api/client";
import { count, percent } from "../shown/number";
import { Moment } from "../shown/time";
import { t } from "../words";
import { Direction } from "./outcome";
import { type Column, Table } from "./table";

type Event = Schemas["EventRead"];

/** Return since which stack it is, or on which host where the host itself is at fault. */
export function causeOf(of: Event): string {
  return of.host ? t("events.is_host", { host: of.host }) : of.stack_name;
}

export function Events({ of }: { of: readonly Event[] }) {
  const columns: Column<Event>[] = [
    {
      key: "event",
      title: t("field.event"),
      value: (row) => row.direction,
      heads: true,
      cell: (row) => (
        <a href={`/events/${row.id}`}>
          <Direction of={row.direction} />
          {row.change === null ? "" : percent(row.change)}
        </a>
      ),
    },
    { key: "stack", title: t("field.since_stack"), value: (row) => row.stack_name, long: true, cell: causeOf },
    { key: "moved", title: t("field.moved"), value: (row) => row.moved.length, numeric: true, cell: (row) => t("events.moved", { series: count(row.moved.length) }) },
    { key: "before", title: t("field.before"), value: (row) => row.before_stack_name, long: true, wide: true },
    { key: "hosts", title: t("field.host"), value: (row) => row.hosts.join(" "), wide: true },
    {
      key: "change_at",
      title: t("field.since"),
      value: (row) => row.change_at,
      cell: (row) => <Moment at={row.change_at} brief />,
    },
    { key: "seen_at", title: t("field.first_seen"), value: (row) => row.seen_at, cell: (row) => <Moment at={row.seen_at} brief /> },
  ];
  return <Table name="events" caption={t("nav.events")} hideCaption rows={of} columns={columns} keyOf={(row) => row.id} />;
}
