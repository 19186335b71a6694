// The series: the runs of one cell and metric, in the order in which their stacks were built.

import { useMemo } from "preact/hooks";
import type { Schemas } from "../../api/client";
import { type Asked, useAnswer } from "../../api/use";
import { Empty, Problem, Shown } from "../../parts/asked";
import { Choice, Heading, Section } from "../../parts/fields";
import { useDrawn } from "../../parts/growing";
import { type IncidentCell, Incidents } from "../../parts/incidents";
import { useLast } from "../../parts/store";
import { address, changedAddress, go, usePlace } from "../../route";
import { METRIC_NAMES, measured, metricName } from "../../shown/metric";
import { count, tolerance } from "../../shown/number";
import { Moment } from "../../shown/time";
import { t } from "../../words";
import { listed } from "../matrix/filters";
import { ChangePoints, Changes, Points } from "./behind";
import { type Outline, type Series, dotsOf, dotsOfOutline, zoomOf } from "./dots";
import { Figure } from "./figure";
import { PickedRuns, pick, pickedOf } from "./picked";

// As many runs are asked for with every repeat; a longer series is drawn from far away.
const LIMIT = 500;
// An incident may list very many cells; the newest are marked.
const INCIDENTS = 5;

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

function metricOf(query: URLSearchParams): string {
  return query.get("metric") ?? "output_throughput";
}

function One({ condition, protocol }: { condition: string; protocol: string }) {
  const { query } = usePlace();
  const metric = metricOf(query);
  const of = { condition_key: condition, protocol_key: protocol, metric, host: query.get("host") };
  const series = useAnswer("/api/v1/series", {}, {
    ...of,
    channel: query.get("channel"),
    limit: LIMIT,
  });
  const incidents = useAnswer("/api/v1/incidents", {}, { condition_key: condition, limit: INCIDENTS });
  const title = useLast(series.value?.title);
  const long = (series.value?.total ?? 0) > LIMIT;
  const outline = useAnswer("/api/v1/series/outline", long ? {} : null, of);
  return (
    <>
      <Heading title={title ?? t("nav.series")} sub={t("series.sub", { metric: metricName(metric) })} />
      <Shown of={series} lines={18}>
        {(value) => <Whole series={value} outline={long ? outline : undefined} incidents={incidents} />}
      </Shown>
    </>
  );
}

interface Wanted {
  series: Series;
  /** Of a series that is longer than the runs in hand; it is drawn once that is there. */
  outline: Asked<Outline> | undefined;
  incidents: Asked<Schemas["IncidentPage"]>;
}

function Whole({ series, outline, incidents }: Wanted) {
  const { query } = usePlace();
  const whole = outline?.value;
  const dots = useMemo(() => (whole ? dotsOfOutline(whole) : dotsOf(series)), [series, whole]);
  const marked = useMemo(() => (incidents.value?.incidents ?? []).filter((each) => each.cells.some((cell) => isOf(cell, series))), [incidents.value, series]);
  const ready = !outline?.loading || whole !== undefined;
  const drawn = useDrawn(ready);
  const picked = query.get("pick") ?? "";
  const zoom = zoomOf(query.get("zoom"), dots.length);
  return (
    <>
      <form class="filters" aria-label={t("series.choices")} onSubmit={(event) => event.preventDefault()}>
        <Choice
          label={t("field.metric")}
          value={metricOf(query)}
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
          {outline?.problem && <Problem error={outline.problem} again={outline.again} />}
          <Figure
            series={series}
            stacks={whole?.stacks ?? series.stacks}
            hosts={whole?.hosts ?? series.hosts}
            dots={ready ? dots : null}
            incidents={marked}
            zoom={zoom}
            picked={pickedOf(picked)}
            pick={(run) => pick(picked, run)}
          />
          <Baseline of={series} />
          {series.total > series.points.length && <p class="muted">{t("series.newest", { shown: count(series.points.length), total: count(series.total) })}</p>}
          {drawn && incidents.problem && <Problem error={incidents.problem} again={incidents.again} />}
          {drawn && marked.length > 0 && (
            <Section title={t("nav.incidents")}>
              <Incidents of={marked} brief />
            </Section>
          )}
          {drawn && <Behind of={series} picked={picked} />}
        </>
      )}
    </>
  );
}

function isOf(cell: IncidentCell, { condition_key, protocol_key, metric }: Series): boolean {
  return cell.condition_key === condition_key && cell.protocol_key === protocol_key && cell.metric === metric;
}

/** The tables, which are drawn after the chart and not before it. */
function Behind({ of, picked }: { of: Series; picked: string }) {
  return (
    <>
      {of.change_points.length > 0 && (
        <Section title={t("series.change_points")}>
          <ChangePoints of={of} />
        </Section>
      )}
      <Section title={t("series.changes")}>
        <Changes of={of} />
      </Section>
      <Section title={t("series.points")}>
        <Points of={of} metric={of.metric} picked={picked} />
      </Section>
    </>
  );
}

function Baseline({ of }: { of: Series }) {
  const { baseline: band, metric } = of;
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
        tolerance: tolerance(of.tolerance),
      })}{" "}
      <span class="muted">
        {t("series.pinned_by", { who: band.pinned_by, why: band.why })} <Moment at={band.pinned_at} brief />
      </span>
    </p>
  );
}
