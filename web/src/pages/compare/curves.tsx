// Throughput beside latency over the measured loads of two stacks, the capacity under limits that
// the reader sets, and what more cards bring. Nothing is read between what was measured.

import type { Schemas } from "../../api/client";
import { useAnswer } from "../../api/use";
import { Empty, Shown } from "../../parts/asked";
import { Choice, Entry } from "../../parts/fields";
import { type Line, Lines } from "../../parts/lines";
import { type Column, Table } from "../../parts/table";
import { address, changedAddress, go, usePlace } from "../../route";
import { measured, metricName, unitOf } from "../../shown/metric";
import { count, percent, significant, together, value } from "../../shown/number";
import { member, t } from "../../words";

type Curves = Schemas["CurvesRead"];
type Curve = Schemas["CurveRead"];
type Load = Schemas["LoadRead"];
type Level = Schemas["LevelRead"];
type Side = Schemas["SideRead"];

const STATISTICS = ["mean", "p50", "p90", "p95", "p99"];
const MS = 1000;

export function Throughput({ stacks }: { stacks: readonly string[] }) {
  const { query } = usePlace();
  const statistic = query.get("of") ?? "p50";
  const latencies = [`ttft_${statistic}`, `tpot_${statistic}`];
  const limits = latencies.flatMap((name) => {
    const most = Number(query.get(name.slice(0, 4)));
    return most > 0 ? [`${name}:${(most / MS).toFixed(6)}`] : [];
  });
  const asked = useAnswer("/api/v1/curves", {}, { stack: stacks, latency: latencies, at_most: limits, traffic: query.get("traffic") });
  return (
    <>
      <Limits statistic={statistic} />
      <Shown of={asked} lines={12}>
        {(curves) => (curves.curves.length === 0 ? <Empty command="kunline run PLAN --stack STACK">{t("curves.none")}</Empty> : <Told of={curves} latencies={latencies} />)}
      </Shown>
    </>
  );
}

function Limits({ statistic }: { statistic: string }) {
  const { query } = usePlace();
  const number = (name: string, label: string) => (
    <Entry isNumber label={label} value={query.get(name) ?? ""} onChange={(value) => go(changedAddress({ [name]: value || null }))} />
  );
  return (
    <form class="filters" aria-label={t("curves.limits")} onSubmit={(event) => event.preventDefault()}>
      <Choice label={t("curves.statistic")} value={statistic} options={STATISTICS.map((each) => [each, each === "mean" ? t("metric.mean") : each])} onChange={(of) => go(changedAddress({ of: of === "p50" ? null : of }))} />
      {number("ttft", t("curves.most", { metric: `TTFT ${statistic}` }))}
      {number("tpot", t("curves.most", { metric: `TPOT ${statistic}` }))}
      {number("traffic", t("curves.traffic"))}
    </form>
  );
}

function nameOf(curve: Curve): string {
  return `${curve.title} · ${curve.host}`;
}

function Told({ of, latencies }: { of: Curves; latencies: string[] }) {
  const { query } = usePlace();
  const chosen = of.curves.find((curve) => nameOf(curve) === query.get("curve")) ?? of.curves[0];
  if (!chosen) return null;
  const shown = latencies.find((name) => name.startsWith(query.get("y") ?? "ttft")) ?? "ttft_p50";
  return (
    <>
      {of.limits.length > 0 && <Capacity of={of} />}
      <div class="filters">
        <Choice label={t("curves.curve")} value={nameOf(chosen)} options={of.curves.map((curve) => [nameOf(curve), nameOf(curve)])} onChange={(curve) => go(changedAddress({ curve }))} />
        <Choice label={t("curves.against")} value={shown.slice(0, 4)} options={latencies.map((name) => [name.slice(0, 4), metricName(name)])} onChange={(y) => go(changedAddress({ y: y === "ttft" ? null : y }))} />
      </div>
      <figure class="figure">
        <Lines
          marked lines={chosen.sides.map((side, place) => lineOf(side, shown, place))} xUnit="tok/s" yUnit="s" xWord={metricName("output_throughput")} yWord={metricName(shown)}
          level={of.limits.find((limit) => limit.metric === shown)?.most ?? null} label={t("curves.spoken", { metric: metricName(shown), curve: nameOf(chosen) })}
        />
      </figure>
      <Loads of={chosen} latencies={latencies} limited={of.limits.length > 0} />
      <p class="muted">{t("curves.confidence", { confidence: percent(of.confidence, 0, false) })}</p>
    </>
  );
}

function lineOf(side: Side, metric: string, tone: number): Line {
  const dots = side.loads.flatMap((load) => {
    const level = load.latencies[metric];
    if (!level || !load.throughput) return [];
    const title = `${loadWords(load)}: ${measured("output_throughput", load.throughput.level)}, ${measured(metric, level.level)}`;
    return [{ x: load.throughput.level, y: level.level, low: level.low, high: level.high, title }];
  });
  return { name: side.stack.name, tone, dots };
}

function loadWords(load: Load): string {
  return significant(load.amount, 3).replace(/[.,]0+$/, "");
}

function levelWords(metric: string, of: Level | null | undefined) {
  if (!of) return null;
  const { shown, unit } = together(unitOf(metric), of.level, [of.level, of.low ?? 0, of.high ?? 0]);
  return (
    <>
      {shown[0]} {of.low !== null && <span class="muted">[{shown[1]}, {shown[2]}]</span>} {unit} {of.low === null && <span class="muted">{t("curves.one_launch")}</span>}
    </>
  );
}

interface Row {
  side: Side;
  load: Load;
}

const KEPT: Record<string, string> = { kept: "calm", broken: "worse" };

function Loads({ of, latencies, limited }: { of: Curve; latencies: string[]; limited: boolean }) {
  const rows = of.sides.flatMap((side) => side.loads.map((load): Row => ({ side, load })));
  const columns: Column<Row>[] = [
    { key: "load", title: t("field.load"), value: ({ load }) => load.amount, heads: true, numeric: true, cell: ({ load }) => <a href={address("/series", { condition: load.condition_key, protocol: of.protocol_key })}>{loadWords(load)}</a> },
    { key: "stack", title: t("field.stack"), value: ({ side }) => side.stack.name },
    { key: "output_throughput", title: metricName("output_throughput"), value: ({ load }) => load.throughput?.level, numeric: true, cell: ({ load }) => levelWords("output_throughput", load.throughput) },
    ...latencies.map(
      (name): Column<Row> => ({ key: name, title: metricName(name), value: ({ load }) => load.latencies[name]?.level, numeric: true, cell: ({ load }) => levelWords(name, load.latencies[name]) }),
    ),
    { key: "launches", title: t("field.launches"), value: ({ load }) => load.launches, numeric: true },
    { key: "kept", title: t("curves.limits"), saved: !limited, value: ({ load }) => load.kept, cell: ({ load }) => load.kept && <span class={`tag ${KEPT[load.kept] ?? "unsure"}`}>{member("kept", load.kept)}</span> },
  ];
  return <Table name="loads" caption={t("curves.loads")} rows={rows} columns={columns} sorted="load" keyOf={({ side, load }) => side.stack.key + load.condition_key} most={200} />;
}

interface Capable {
  curve: Curve;
  side: Side;
}

function Capacity({ of }: { of: Curves }) {
  const rows = of.curves.flatMap((curve) => curve.sides.map((side): Capable => ({ curve, side })));
  const needed = (side: Side) => {
    const cards = side.capacity?.cards_needed;
    if (!cards) return "–";
    return cards.most === null || cards.most === cards.expected ? count(cards.expected) : t("curves.cards", { expected: count(cards.expected), most: count(cards.most) });
  };
  const columns: Column<Capable>[] = [
    { key: "cell", title: t("curves.curve"), value: ({ curve }) => nameOf(curve), heads: true, long: true },
    { key: "stack", title: t("field.stack"), value: ({ side }) => side.stack.name },
    { key: "amount", title: t("curves.highest"), value: ({ side }) => side.capacity?.amount, numeric: true, cell: ({ side }) => (side.capacity?.amount == null ? "–" : significant(side.capacity.amount, 3).replace(/[.,]0+$/, "")) },
    { key: "bound", title: t("field.note"), value: ({ side }) => side.capacity?.bound, long: true, cell: ({ side }) => member("bound", side.capacity?.bound ?? "") },
    { key: "goodput", title: t("curves.goodput"), value: ({ side }) => side.capacity?.goodput_per_card?.level, numeric: true, cell: ({ side }) => levelWords("output_throughput", side.capacity?.goodput_per_card) },
    ...(of.traffic === null ? [] : [{ key: "cards", title: t("curves.needed", { traffic: value("tok/s", of.traffic) }), value: ({ side }: Capable) => side.capacity?.cards_needed?.expected, numeric: true, cell: ({ side }: Capable) => needed(side) }]),
  ];
  return (
    <>
      <Table name="capacity" caption={t("curves.capacity")} rows={rows} columns={columns} keyOf={({ curve, side }) => nameOf(curve) + curve.protocol_key + side.stack.key} most={100} />
      {of.traffic !== null && <p class="muted">{t("curves.assumed")}</p>}
    </>
  );
}
