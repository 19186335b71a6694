// The tables behind the chart of a series: what changed between stacks, and every run.

import { memo } from "../../parts/memo";
import { Direction, State } from "../../parts/outcome";
import { type Column, Table } from "../../parts/table";
import { measured, unitOf } from "../../shown/metric";
import { percent, together } from "../../shown/number";
import { Moment } from "../../shown/time";
import { member, t } from "../../words";
import type { Series } from "./dots";
import { pick } from "./picked";

type Seen = Series["change_points"][number];
type Point = Series["points"][number];
interface Change {
  stack: string;
  built_at: string;
  name: string;
  baseline: string;
  candidate: string;
  scope: string;
  layer: string;
  recorded: boolean;
}

// None of these is drawn again when the whole of a long series arrives for the chart above.
export const ChangePoints = memo(function ChangePoints({ of }: { of: Series }) {
  const columns: Column<Seen>[] = [
    {
      key: "change",
      title: t("event.change"),
      value: (row) => row.change,
      heads: true,
      cell: (row) => (
        <a href={`/events/${row.event_id}`}>
          <Direction of={row.direction} />
          {percent(row.change)}
        </a>
      ),
    },
    { key: "host", title: t("field.host"), value: (row) => row.host },
    {
      key: "run",
      title: t("series.first_run"),
      value: (row) => row.run_id,
      cell: (row) => row.run_id && <a href={`/runs/${row.run_id}`}>{row.run_id.slice(0, 8)}</a>,
    },
    { key: "seen_at", title: t("field.first_seen"), value: (row) => row.seen_at, cell: (row) => <Moment at={row.seen_at} brief /> },
  ];
  return (
    <Table name="seen" caption={t("series.change_points")} hideCaption rows={of.change_points} columns={columns} keyOf={(row) => row.event_id + row.host} />
  );
});

export const Changes = memo(function Changes({ of }: { of: Series }) {
  const rows: Change[] = of.stacks.flatMap((stack) =>
    stack.changes.map((change) => ({ ...change, stack: stack.name, built_at: stack.built_at })),
  );
  if (rows.length === 0) return <p class="muted">{t("series.no_changes")}</p>;
  const columns: Column<Change>[] = [
    { key: "stack", title: t("field.stack"), value: (row) => row.stack, heads: true },
    { key: "built_at", title: t("field.built_at"), value: (row) => row.built_at },
    {
      key: "component",
      title: t("field.component"),
      value: (row) => row.name,
      cell: (row) => (
        <>
          {row.name} {row.recorded && <span class="muted">{t("stack.recorded")}</span>}
        </>
      ),
    },
    { key: "before", title: t("field.before"), value: (row) => row.baseline, cell: (row) => <code>{row.baseline}</code> },
    { key: "after", title: t("field.after"), value: (row) => row.candidate, cell: (row) => <code>{row.candidate}</code> },
    { key: "scope", title: t("field.scope"), value: (row) => row.scope, cell: (row) => member("scope", row.scope), wide: true },
  ];
  return (
    <Table
      name="changes"
      caption={t("series.changes")}
      hideCaption
      rows={rows}
      columns={columns}
      keyOf={(row) => `${row.stack} ${row.name}`}
    />
  );
});

/** picked: the runs that are compared, as the address has them. */
export const Points = memo(function Points({ of, metric, picked }: { of: Series; metric: string; picked: string }) {
  const places = new Map(of.points.map((point, place) => [point.run_id, place + 1]));
  const stackOf = (point: Point) => of.stacks[point.stack]?.name ?? "";
  const columns: Column<Point>[] = [
    {
      key: "place",
      title: t("field.place"),
      value: (row) => places.get(row.run_id),
      numeric: true,
      cell: (row) => (
        <label class="tick">
          <input type="checkbox" checked={picked.includes(row.run_id)} onChange={() => pick(picked, row.run_id)} />
          {places.get(row.run_id)}
          <span class="unseen">{t("series.tick")}</span>
        </label>
      ),
    },
    { key: "run", title: t("field.run"), value: (row) => row.run_id, heads: true, cell: (row) => <a href={`/runs/${row.run_id}`}>{row.run_id.slice(0, 8)}</a> },
    { key: "median", title: t("field.median"), value: (row) => row.median, numeric: true, cell: (row) => measured(metric, row.median) },
    {
      key: "repeats",
      title: t("field.repeats"),
      long: true,
      value: (row) => row.repeats.join(" "),
      numeric: true,
      wide: true,
      cell: (row) => repeatsOf(row, metric),
    },
    { key: "stack", title: t("field.stack"), value: stackOf },
    { key: "host", title: t("field.host"), value: (row) => row.host },
    { key: "state", title: t("field.state"), value: (row) => row.state, cell: (row) => <Marks of={row} /> },
    { key: "measured_at", title: t("field.measured_at"), value: (row) => row.measured_at, cell: (row) => <Moment at={row.measured_at} brief /> },
  ];
  return <Table name="points" caption={t("series.points")} hideCaption rows={of.points} columns={columns} keyOf={(row) => row.run_id} most={100} />;
});

function repeatsOf(of: Point, metric: string): string {
  if (of.repeats.length === 0) return "";
  const { shown, unit } = together(unitOf(metric), of.median ?? of.repeats[0] ?? 0, of.repeats);
  return `${shown.join(" · ")} ${unit}`;
}

function Marks({ of }: { of: Point }) {
  return (
    <span class="tags">
      <State of={of.state} />
      {of.is_baseline && <span class="tag better">{t("series.band")}</span>}
      {of.drifted && <State of="drifted" />}
      {of.withdrawn && <State of="withdrawn" />}
      {of.imported && <State of="imported" />}
    </span>
  );
}
