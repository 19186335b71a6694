// The matrix: cells as rows, metrics of one stack or one metric of many stacks as columns.

import { useMemo } from "preact/hooks";
import type { Schemas } from "../../api/client";
import { useAnswer } from "../../api/use";
import { Empty, Shown } from "../../parts/asked";
import { Choice, Heading } from "../../parts/fields";
import { inPrecedence, Outcome } from "../../parts/outcome";
import { useLast } from "../../parts/store";
import { changedAddress, go, usePlace } from "../../route";
import { JUDGED, METRIC_NAMES, metricName } from "../../shown/metric";
import { count } from "../../shown/number";
import { member, t } from "../../words";
import { Heat } from "./heat";
import { FILTERS, filterValues, kept, listed, outcomesOf } from "./filters";

type Matrix = Schemas["MatrixRead"];
type Stack = Schemas["StackOrder"];

const LIMIT = 1000;
const STACKS = 6;

export default function MatrixPage() {
  const { query } = usePlace();
  const byStack = query.get("view") === "stacks";
  const stacks = useAnswer("/api/v1/stacks", {}, { limit: 200 });
  const named = query.getAll("stack").flatMap((each) => each.split(","));
  // Without a choice, the newest stacks stand beside each other.
  const newest = byStack && named.length === 0 ? stacks.value?.slice(0, STACKS).map((each) => each.key) : named;
  const asked = useAnswer("/api/v1/matrix", newest ? {} : null, {
    stack: newest,
    metric: metricsAsked(query.get("metric"), byStack),
    baseline: query.get("baseline"),
    channel: query.get("channel"),
    limit: LIMIT,
    cursor: query.get("cursor"),
  });
  return (
    <>
      <Heading title={t("nav.matrix")} sub={t("matrix.sub")} />
      <Sides stacks={stacks.value ?? []} matrix={asked.value} byStack={byStack} />
      <Shown of={asked} lines={20}>
        {(matrix) => <Filtered of={matrix} byStack={byStack} />}
      </Shown>
    </>
  );
}

function metricsAsked(metric: string | null, byStack: boolean): string[] {
  if (metric) return metric.split(",");
  return byStack ? JUDGED.slice(0, 1) : [];
}

function set(name: string): (value: string) => void {
  return (value) => go(changedAddress({ [name]: value || null, cursor: null }));
}

function Sides({ stacks, matrix, byStack }: { stacks: Stack[]; matrix: Matrix | undefined; byStack: boolean }) {
  const { query } = usePlace();
  const newest = useLast(query.get("stack") ? undefined : matrix?.stacks[0]?.name);
  const named = stacks.map((each) => [each.key, each.stack.name] as [string, string]);
  const chosen = query.get("stack") ?? "";
  const views: [string, string][] = [
    ["", t("matrix.by_metric")],
    ["stacks", t("matrix.by_stack")],
  ];
  return (
    <form class="filters" aria-label={t("matrix.sides")} onSubmit={(event) => event.preventDefault()}>
      <Choice
        label={t("matrix.view")}
        value={byStack ? "stacks" : ""}
        options={views}
        onChange={(view) => go(changedAddress({ view: view || null, metric: null, stack: null, cursor: null }))}
      />
      {byStack ? (
        <Choice
          label={t("field.metric")}
          value={query.get("metric") ?? JUDGED[0] ?? ""}
          options={METRIC_NAMES.map((name) => [name, metricName(name)])}
          onChange={set("metric")}
        />
      ) : (
        <Choice
          label={t("field.candidate")}
          value={named.find(([key]) => chosen && key.startsWith(chosen))?.[0] ?? ""}
          options={named}
          onChange={set("stack")}
          any={newest ? t("matrix.newest", { name: newest }) : t("matrix.newest_any")}
        />
      )}
      <Choice
        label={t("field.baseline")}
        value={named.find(([key]) => query.get("baseline") && key.startsWith(query.get("baseline") ?? ""))?.[0] ?? ""}
        options={named}
        onChange={set("baseline")}
        any={t("matrix.pinned", { channel: query.get("channel") ?? "main" })}
      />
    </form>
  );
}

/** Count the squares of all rows by their outcome. */
function tally(of: Matrix, byStack: boolean): Record<string, number> {
  const found: Record<string, number> = {};
  for (const outcome of of.rows.flatMap((row) => outcomesOf(row, byStack))) found[outcome] = (found[outcome] ?? 0) + 1;
  return found;
}

function Filtered({ of, byStack }: { of: Matrix; byStack: boolean }) {
  const { query } = usePlace();
  const inOrder = useMemo(() => listed(of.rows), [of]);
  const rows = useMemo(() => kept(inOrder, query, byStack), [inOrder, query, byStack]);
  const outcomes = useMemo(() => tally(of, byStack), [of, byStack]);
  if (of.rows.length === 0) return <Empty command={'kunline run smoke\nkunline baseline pin STACK --why "first"'}>{t("matrix.none")}</Empty>;
  return (
    <>
      <form class="filters" aria-label={t("matrix.filters")} onSubmit={(event) => event.preventDefault()}>
        <label class="choice grow">
          <span>{t("matrix.words")}</span>
          <input
            type="search"
            value={query.get("words") ?? ""}
            onInput={(event) => go(changedAddress({ words: event.currentTarget.value || null }), { replace: true })}
          />
        </label>
        {FILTERS.map((filter) => {
          const values = filterValues(of.rows, filter);
          if (values.length < 2 && !query.get(filter.name)) return null;
          return (
            <Choice
              key={filter.name}
              label={t(filter.word)}
              value={query.get(filter.name) ?? ""}
              options={values.map((value) => [value, value])}
              onChange={set(filter.name)}
              any={t("any")}
            />
          );
        })}
        <Choice
          label={t("field.outcome")}
          value={query.get("outcome") ?? ""}
          options={inPrecedence(outcomes).map(([outcome]) => [outcome, member("outcome", outcome)])}
          onChange={set("outcome")}
          any={t("any")}
        />
      </form>
      <p class="tags" role="status">
        <span>{t("matrix.shown", { shown: count(rows.length), total: count(of.rows.length) })}</span>
        {inPrecedence(outcomes).map(([outcome, number]) => (
          <span key={outcome} class="nowrap">
            {count(number)} <Outcome of={outcome} />
          </span>
        ))}
      </p>
      {rows.length === 0 ? (
        <Empty>
          {t("matrix.filtered_out")}{" "}
          <a href={changedAddress({ words: null, outcome: null, ...Object.fromEntries(FILTERS.map(({ name }) => [name, null])) })}>
            {t("matrix.clear")}
          </a>
        </Empty>
      ) : (
        <Heat of={of} rows={rows} byStack={byStack} />
      )}
      {of.cursor && (
        <p class="more">
          <a href={changedAddress({ cursor: of.cursor })}>{t("matrix.next")}</a>
        </p>
      )}
    </>
  );
}
