// The tables of a run.

import type { Schemas } from "../../api/client";
import { useAnswer } from "../../api/use";
import { Shown } from "../../parts/asked";
import { Facts, Key, More } from "../../parts/fields";
import { State } from "../../parts/outcome";
import { type Column, Table } from "../../parts/table";
import { measured, metricName } from "../../shown/metric";
import { value as shown } from "../../shown/number";
import { member, t } from "../../words";

type Detail = Schemas["RunDetail"];
type Finding = Schemas["GateFinding"];
type Layer = Schemas["LayerFinding"];

export function Findings({ of }: { of: Detail }) {
  if (of.findings.length === 0) return <p>{t("run.no_findings")}</p>;
  const columns: Column<Finding>[] = [
    { key: "gate", title: t("field.gate"), value: (row) => row.code, heads: true, cell: (row) => <code>{row.code}</code> },
    { key: "severity", title: t("field.severity"), value: (row) => row.severity, cell: (row) => <State of={row.severity} /> },
    { key: "message", title: t("field.seen"), value: (row) => row.message, long: true, cell: (row) => <span lang="en">{row.message}</span> },
    { key: "observed", title: t("field.observed"), value: (row) => row.observed, long: true },
    { key: "required", title: t("field.required"), value: (row) => row.required },
  ];
  return <Table name="findings" caption={t("run.findings")} hideCaption rows={of.findings} columns={columns} keyOf={(row) => row.code + row.observed} />;
}

interface Repeat {
  place: number;
  seed: number | null;
}

export function Repeats({ of }: { of: Detail }) {
  const metrics = Object.keys(of.values);
  if (metrics.length === 0) return <p class="muted">{t("run.no_values")}</p>;
  const most = Math.max(...Object.values(of.values).map((repeats) => repeats.length));
  const rows: Repeat[] = Array.from({ length: most }, (_, place) => ({ place, seed: of.seeds[place] ?? null }));
  const columns: Column<Repeat>[] = [
    { key: "repeat", title: t("field.repeat"), value: (row) => row.place + 1, heads: true, numeric: true },
    { key: "seed", title: t("field.seed"), value: (row) => row.seed, numeric: true },
    ...metrics.map(
      (metric): Column<Repeat> => ({
        key: metric,
        title: metricName(metric),
        value: (row) => of.values[metric]?.[row.place],
        numeric: true,
        cell: (row) => measured(metric, of.values[metric]?.[row.place]),
      }),
    ),
    { key: "overhead_s", title: t("field.overhead"), value: (row) => of.overhead_s[row.place], numeric: true, cell: (row) => shown("s", of.overhead_s[row.place], 3), wide: true },
  ];
  return (
    <>
      <Facts of={Object.entries(of.run.medians).map(([metric, median]) => [`${metricName(metric)} · ${t("field.median")}`, measured(metric, median)])} />
      <Table name="repeats" caption={t("run.each_repeat")} rows={rows} columns={columns} keyOf={(row) => String(row.place)} most={50} />
    </>
  );
}

interface Pinned {
  name: string;
  version: string;
  observed: string | null;
  layer: string;
  scope: string;
  recorded: boolean;
  drifted: boolean;
}

interface ComponentsWanted {
  of: Schemas["StackOrder"]["stack"];
  observed: Record<string, string>;
  drift: Detail["drift"];
}

export function Components({ of, observed, drift }: ComponentsWanted) {
  const drifted = new Set(drift.map((each) => each.field));
  const rows: Pinned[] = of.components.map((component) => ({
    ...component,
    recorded: component.recorded ?? false,
    observed: observed[component.name] ?? null,
    drifted: drifted.has(component.name),
  }));
  const columns: Column<Pinned>[] = [
    { key: "component", title: t("field.component"), value: (row) => row.name, heads: true },
    { key: "layer", title: t("field.layer"), value: (row) => row.layer, cell: (row) => member("layer", row.layer), wide: true },
    { key: "declared", title: t("field.declared"), value: (row) => row.version, cell: (row) => <code>{row.version}</code> },
    { key: "observed", title: t("field.observed"), value: (row) => row.observed, cell: (row) => (row.observed ? <code>{row.observed}</code> : <span class="muted">{t("run.not_looked")}</span>) },
    {
      key: "drift",
      title: t("field.note"),
      value: (row) => row.drifted,
      cell: (row) => (row.drifted ? <State of="drifted" /> : row.recorded && <span class="muted">{t("stack.recorded")}</span>),
    },
    { key: "scope", title: t("field.scope"), value: (row) => row.scope, cell: (row) => member("scope", row.scope), wide: true },
  ];
  return <Table name="components" caption={t("stack.components")} hideCaption rows={rows} columns={columns} keyOf={(row) => row.name} />;
}

export function Settled({ of }: { of: Detail["resolution"] }) {
  const rows = Object.entries(of);
  if (rows.length === 0) return <p class="muted">{t("run.nothing_settled")}</p>;
  const columns: Column<(typeof rows)[number]>[] = [
    { key: "fact", title: t("field.fact"), value: ([name]) => name, heads: true, cell: ([name]) => <code>{name}</code> },
    { key: "value", title: t("field.value"), value: ([, fact]) => fact, long: true, cell: ([, fact]) => <code>{String(typeof fact === "number" && !Number.isInteger(fact) ? Number(fact.toPrecision(6)) : fact)}</code> },
  ];
  return <Table name="settled" caption={t("run.settled")} hideCaption rows={rows} columns={columns} keyOf={([name]) => name} most={40} />;
}

export function Preflight({ of }: { of: readonly Layer[] }) {
  if (of.length === 0) return <p class="muted">{t("run.no_preflight")}</p>;
  const columns: Column<Layer>[] = [
    { key: "layer", title: t("field.layer"), value: (row) => row.layer, heads: true, cell: (row) => member("layer", row.layer) },
    { key: "state", title: t("field.state"), value: (row) => row.state, cell: (row) => <State of={row.state} /> },
    {
      key: "finding",
      title: t("field.seen"),
      long: true,
      value: (row) => row.finding,
      cell: (row) => (
        <span lang="en">
          {row.finding} {row.remedy && <em>{row.remedy}</em>}
        </span>
      ),
    },
    { key: "seconds", title: t("field.seconds"), value: (row) => row.seconds, numeric: true, cell: (row) => shown("s", row.seconds, 3) },
  ];
  return <Table name="preflight" caption={t("run.preflight")} hideCaption rows={of} columns={columns} keyOf={(row) => row.layer} />;
}

export function Condition({ key_, protocol }: { key_: string; protocol: string }) {
  const condition = useAnswer("/api/v1/conditions/{key}", { key: key_ });
  const measuredBy = useAnswer("/api/v1/protocols/{key}", { key: protocol });
  return (
    <>
      <Shown of={condition} lines={8}>
        {(value) => <Facts of={[[t("field.key"), <Key of={value.key} />], ...flat(value.condition)]} />}
      </Shown>
      <More summary={t("run.protocol")}>
        <Shown of={measuredBy} lines={3}>
          {(value) => <Facts of={[[t("field.key"), <Key of={value.key} />], ...flat(value.protocol)]} />}
        </Shown>
      </More>
    </>
  );
}

/** Return the fields of an object, nested ones by their path, as they are named in refusals. */
function flat(of: object, before = ""): [string, string][] {
  return Object.entries(of).flatMap(([name, value]: [string, unknown]): [string, string][] => {
    const path = before ? `${before}.${name}` : name;
    if (value !== null && typeof value === "object") return flat(value, path);
    const text = value === null ? "–" : String(value);
    return [[path, /^[0-9a-f]{64}$/.test(text) ? text.slice(0, 12) : text]];
  });
}
