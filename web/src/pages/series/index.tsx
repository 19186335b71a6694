// The series: the runs of one cell and metric, in the order in which their stacks were built.

import { useMemo, useState } from "preact/hooks";
import { useAnswer } from "../../api/use";
import { Empty, Shown } from "../../parts/asked";
import { Choice, Heading, Section } from "../../parts/fields";
import { address, changedAddress, go, usePlace } from "../../route";
import { METRIC_NAMES, direction, measured, metricName } from "../../shown/metric";
import { count, percent } from "../../shown/number";
import { Moment } from "../../shown/time";
import { t } from "../../words";
import { listed } from "../matrix/filters";
import { Chart } from "./chart";
import { ChangePoints, Changes, Points } from "./behind";
import { type Dot, type Outline, type Series, dotsOf, dotsOfOutline, zoomOf } from "./dots";

// As many runs are asked for with every repeat; a longer series is drawn from far away.
const LIMIT = 500;

export default function SeriesPage() {
  const { query } = usePlace();
  const [condition, protocol] = [query.get("condition"), query.get("protocol")];
  if (!condition || !protocol) return <Cells />;
  return <One condition={condition} protocol={protocol} />;
}

function Cells() {
  const asked = useAnswer("/api/v1/matrix", {}, { limit: 1000 });
  const { query } = usePlace();
  const words = (query.get("words") ?? "").toLowerCase();
  return (
    <>
      <Heading title={t("nav.series")} sub={t("series.choose")} />
      <Shown of={asked}>
        {(matrix) =>
          matrix.rows.length === 0 ? (
            <Empty command="kunline run smoke">{t("series.none")}</Empty>
          ) : (
            <>
              <div class="filters">
                <label class="choice grow">
                  <span>{t("matrix.words")}</span>
                  <input
                    type="search"
                    value={query.get("words") ?? ""}
                    onInput={(event) => go(changedAddress({ words: event.currentTarget.value || null }), { replace: true })}
                  />
                </label>
              </div>
              <ul class="plain lined">
                {listed(matrix.rows)
                  .filter((row) => row.title.toLowerCase().includes(words))
                  .map((row) => (
                    <li key={row.condition_key + row.protocol_key} data-row>
                      <a href={address("/series", { condition: row.condition_key, protocol: row.protocol_key })}>{row.title}</a>
                    </li>
                  ))}
              </ul>
            </>
          )
        }
      </Shown>
    </>
  );
}

function One({ condition, protocol }: { condition: string; protocol: string }) {
  const { query } = usePlace();
  const metric = query.get("metric") ?? "output_throughput";
  const of = { condition_key: condition, protocol_key: protocol, metric, host: query.get("host") };
  const series = useAnswer("/api/v1/series", {}, {
    ...of,
    channel: query.get("channel"),
    limit: LIMIT,
  });
  const long = (series.value?.total ?? 0) > LIMIT;
  const outline = useAnswer("/api/v1/series/outline", long ? {} : null, of);
  return (
    <>
      <Heading title={series.value?.title ?? t("nav.series")} sub={t("series.sub", { metric: metricName(metric) })} />
      <Shown of={series} lines={18}>
        {(value) => <Whole series={value} outline={long ? outline.value : undefined} metric={metric} />}
      </Shown>
    </>
  );
}

function Whole({ series, outline, metric }: { series: Series; outline: Outline | undefined; metric: string }) {
  const { query } = usePlace();
  const dots = useMemo(() => (outline ? dotsOfOutline(outline) : dotsOf(series)), [series, outline]);
  const [hovered, setHovered] = useState<number | null>(null);
  const picked = (query.get("pick") ?? "").split(",").filter(Boolean);
  const zoom = zoomOf(query.get("zoom"), dots.length);
  const pick = (run: string) => go(changedAddress({ pick: withPicked(picked, run).join(",") || null }), { replace: true });
  const stacks = outline?.stacks ?? series.stacks;
  const hosts = outline?.hosts ?? series.hosts;
  return (
    <>
      <form class="filters" aria-label={t("series.choices")} onSubmit={(event) => event.preventDefault()}>
        <Choice
          label={t("field.metric")}
          value={metric}
          options={METRIC_NAMES.map((name) => [name, metricName(name)])}
          onChange={(value) => go(changedAddress({ metric: value, zoom: null }))}
        />
        <Choice
          label={t("field.host")}
          value={query.get("host") ?? ""}
          options={series.hosts.map((host) => [host, host])}
          onChange={(host) => go(changedAddress({ host: host || null, zoom: null }))}
          any={t("series.all_hosts")}
        />
        <button type="button" disabled={!zoom} onClick={() => go(changedAddress({ zoom: null }))}>
          {t("series.whole")}
        </button>
        <PickedRuns picked={picked} />
      </form>
      {series.points.length === 0 ? (
        <Empty command="kunline run smoke">{t("series.no_points")}</Empty>
      ) : (
        <>
          <figure class="figure">
            <Chart
              series={series}
              stacks={stacks}
              dots={dots}
              zoom={zoom}
              picked={picked}
              label={spoken(series, metric)}
              onHover={setHovered}
              onPick={(place) => dots[place] && pick(dots[place].run)}
              onZoom={(wanted) => go(changedAddress({ zoom: wanted ? wanted.join("-") : null }))}
            />
            <Legend of={series} hosts={hosts} />
            <Hovered dot={hovered === null ? undefined : dots[hovered]} stacks={stacks} hosts={hosts} metric={metric} />
          </figure>
          <Baseline of={series} metric={metric} />
          {series.total > series.points.length && <p class="muted">{t("series.newest", { shown: count(series.points.length), total: count(series.total) })}</p>}
          {series.change_points.length > 0 && (
            <Section title={t("series.change_points")}>
              <ChangePoints of={series} />
            </Section>
          )}
          <Section title={t("series.changes")}>
            <Changes of={series} />
          </Section>
          <Section title={t("series.points")}>
            <Points of={series} metric={metric} picked={picked} pick={pick} />
          </Section>
        </>
      )}
    </>
  );
}

/** Return the picked runs with one more, or without it; never more than the newest two. */
function withPicked(picked: string[], run: string): string[] {
  return picked.includes(run) ? picked.filter((each) => each !== run) : [...picked, run].slice(-2);
}

function PickedRuns({ picked }: { picked: string[] }) {
  const [baseline, candidate] = picked;
  return (
    <p class="picked" role="status">
      {candidate && baseline ? (
        <a class="button" href={address("/compare", { baseline, candidate })}>
          {t("series.compare")}
        </a>
      ) : (
        <span class="muted">{t(picked.length === 1 ? "series.pick_other" : "series.pick")}</span>
      )}
    </p>
  );
}

function Legend({ of, hosts }: { of: Series; hosts: readonly string[] }) {
  const shapes = ["●", "■", "▲", "◆"];
  return (
    <p class="legend muted">
      {hosts.map((host, place) => (
        <span key={host} class="nowrap">
          <span aria-hidden="true" class={`host-${place % 4}`}>
            {shapes[place % 4]}
          </span>{" "}
          {host}
        </span>
      ))}
      <span class="nowrap"><span aria-hidden="true" class="unjudged">○</span> {t("series.unjudged")}</span>
      {of.baseline?.level != null && (
        <>
          <span class="nowrap"><span aria-hidden="true" class="swatch band" /> {t("series.band")}</span>
          <span class="nowrap"><span aria-hidden="true" class="swatch dash" /> {t("field.tolerance")}</span>
        </>
      )}
    </p>
  );
}

interface HoveredWanted {
  dot: Dot | undefined;
  stacks: readonly { name: string }[];
  hosts: readonly string[];
  metric: string;
}

function Hovered({ dot, stacks, hosts, metric }: HoveredWanted) {
  if (!dot) return <p class="hovered muted">{t("series.hover")}</p>;
  return (
    <p class="hovered">
      <strong>{measured(metric, dot.median)}</strong>{" "}
      <span class="muted">
        {measured(metric, dot.min)} – {measured(metric, dot.max)}
      </span>{" "}
      · {stacks[dot.stack]?.name} · {hosts[dot.host]} · {dot.runs > 1 ? t("series.runs", { runs: count(dot.runs) }) : <Moment at={dot.at} brief />}
      {!dot.judged && <> · {t("series.unjudged")}</>}
    </p>
  );
}

function Baseline({ of, metric }: { of: Series; metric: string }) {
  const band = of.baseline;
  if (!band) {
    return (
      <Empty command={'kunline baseline pin STACK --why "first"'}>
        {t("series.unpinned", { channel: of.channel })} <a href="/baselines">{t("nav.baselines")}</a>
      </Empty>
    );
  }
  return (
    <p>
      {t("series.held", {
        stack: band.stack_name,
        level: measured(metric, band.level),
        low: measured(metric, band.low),
        high: measured(metric, band.high),
        runs: count(band.runs),
        tolerance: percent(of.tolerance, 0, false),
      })}{" "}
      <span class="muted">
        {t("series.pinned_by", { who: band.pinned_by, why: band.why })} <Moment at={band.pinned_at} brief />
      </span>
    </p>
  );
}

/** Say what the chart shows, for whoever does not see it. */
function spoken(series: Series, metric: string): string {
  const medians = series.points.map((point) => point.median).filter((median) => median !== null);
  return t("series.spoken", {
    metric: metricName(metric),
    direction: direction(series.better),
    runs: count(series.total),
    low: measured(metric, Math.min(...medians)),
    high: measured(metric, Math.max(...medians)),
  });
}
