// The series: the runs of one cell and metric, in the order in which their stacks were built.

import { useMemo } from "preact/hooks";
import { type Asked, useAnswer } from "../../api/use";
import { Empty, Problem, Shown } from "../../parts/asked";
import { Choice, Heading, Section } from "../../parts/fields";
import { address, changedAddress, go, usePlace } from "../../route";
import { METRIC_NAMES, measured, metricName } from "../../shown/metric";
import { count, percent } from "../../shown/number";
import { Moment } from "../../shown/time";
import { t } from "../../words";
import { listed } from "../matrix/filters";
import { ChangePoints, Changes, Points } from "./behind";
import { type Outline, type Series, dotsOf, dotsOfOutline, zoomOf } from "./dots";
import { Figure } from "./figure";
import { PickedRuns, pick, pickedOf } from "./picked";

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
        {(value) => <Whole series={value} outline={long ? outline : undefined} metric={metric} />}
      </Shown>
    </>
  );
}

/** outline: of a series that is longer than the runs in hand; it is drawn once that is there. */
function Whole({ series, outline, metric }: { series: Series; outline: Asked<Outline> | undefined; metric: string }) {
  const { query } = usePlace();
  const whole = outline?.value;
  const dots = useMemo(() => (whole ? dotsOfOutline(whole) : dotsOf(series)), [series, whole]);
  const picked = query.get("pick") ?? "";
  const zoom = zoomOf(query.get("zoom"), dots.length);
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
          {outline?.problem && <Problem error={outline.problem} again={outline.again} />}
          <Figure
            series={series}
            stacks={whole?.stacks ?? series.stacks}
            hosts={whole?.hosts ?? series.hosts}
            dots={outline?.loading && !whole ? null : dots}
            zoom={zoom}
            picked={pickedOf(picked)}
            pick={(run) => pick(picked, run)}
          />
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
            <Points of={series} metric={metric} picked={picked} />
          </Section>
        </>
      )}
    </>
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
