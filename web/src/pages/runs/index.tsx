// Runs, newest first, of a stack, a condition, a host, a session or a state.

import type { Schemas } from "../../api/client";
import { useAnswer } from "../../api/use";
import { Empty, Shown } from "../../parts/asked";
import { Choice, Heading } from "../../parts/fields";
import { State } from "../../parts/outcome";
import { type Column, Table } from "../../parts/table";
import { changedAddress, go, usePlace } from "../../route";
import { JUDGED, measured, metricName } from "../../shown/metric";
import { Moment } from "../../shown/time";
import { member, t } from "../../words";

type Run = Schemas["RunRead"];

const STATES = ["measured", "incomplete", "invalid", "broken"];
const LIMIT = 100;

export default function RunsPage() {
  const { query } = usePlace();
  const stacks = useAnswer("/api/v1/stacks", {}, { limit: 200 });
  const runners = useAnswer("/api/v1/runners");
  const asked = useAnswer("/api/v1/runs", {}, {
    stack_key: query.get("stack"),
    condition_key: query.get("condition"),
    session_id: query.get("session"),
    host: query.get("host"),
    state: query.get("state"),
    cursor: query.get("cursor"),
    limit: LIMIT,
  });
  const set = (name: string) => (value: string) => go(changedAddress({ [name]: value || null, cursor: null }));
  const hosts = [...new Set([...(runners.value ?? []).map((runner) => runner.host), ...(query.get("host") ? [query.get("host") ?? ""] : [])])];
  return (
    <>
      <Heading title={t("nav.runs")} sub={t("runs.sub")} />
      <form class="filters" aria-label={t("matrix.filters")} onSubmit={(event) => event.preventDefault()}>
        <Choice
          label={t("field.stack")}
          value={query.get("stack") ?? ""}
          options={(stacks.value ?? []).map((each) => [each.key, each.stack.name])}
          onChange={set("stack")}
          any={t("any")}
        />
        <Choice label={t("field.host")} value={query.get("host") ?? ""} options={hosts.map((host) => [host, host])} onChange={set("host")} any={t("any")} />
        <Choice
          label={t("field.state")}
          value={query.get("state") ?? ""}
          options={STATES.map((state) => [state, member("state", state)])}
          onChange={set("state")}
          any={t("any")}
        />
      </form>
      <Shown of={asked} lines={20}>
        {(page) => (page.runs.length === 0 ? <Empty command="kunline run smoke">{t("runs.none")}</Empty> : <Runs of={page} />)}
      </Shown>
    </>
  );
}

function Runs({ of }: { of: Schemas["RunPage"] }) {
  const columns: Column<Run>[] = [
    {
      key: "run",
      title: t("field.run"),
      value: (row) => row.id,
      heads: true,
      long: true,
      cell: (row) => <a href={`/runs/${row.id}`}>{row.title}</a>,
    },
    { key: "state", title: t("field.state"), value: (row) => row.state, cell: (row) => <Marks of={row} /> },
    { key: "stack", title: t("field.stack"), value: (row) => row.stack_name },
    { key: "host", title: t("field.host"), value: (row) => row.host },
    ...JUDGED.map(
      (metric): Column<Run> => ({
        key: metric,
        title: metricName(metric),
        value: (row) => row.medians[metric],
        numeric: true,
        cell: (row) => measured(metric, row.medians[metric]),
      }),
    ),
    { key: "repeats", title: t("field.repeats"), value: (row) => row.repeats, numeric: true, wide: true },
    { key: "measured_at", title: t("field.measured_at"), value: (row) => row.measured_at, cell: (row) => <Moment at={row.measured_at} brief /> },
  ];
  return (
    <>
      <Table name="runs" caption={t("nav.runs")} hideCaption rows={of.runs} columns={columns} keyOf={(row) => row.id} />
      {of.cursor && (
        <p class="more">
          <a href={changedAddress({ cursor: of.cursor })}>{t("runs.older")}</a>
        </p>
      )}
    </>
  );
}

function Marks({ of }: { of: Run }) {
  return (
    <span class="tags">
      <State of={of.state} />
      {of.drifted && <State of="drifted" />}
      {of.withdrawn && <State of="withdrawn" />}
      {of.imported && <State of="imported" />}
    </span>
  );
}
