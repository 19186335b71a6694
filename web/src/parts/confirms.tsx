// Confirms: what the screen suspected, measured again with both stacks in turn, look by look.

import type { Schemas } from "../api/client";
import { address } from "../route";
import { metricName } from "../shown/metric";
import { count, percent, value } from "../shown/number";
import { Moment } from "../shown/time";
import { language, member, t } from "../words";
import { Outcome, State, Worsening } from "./outcome";
import { type Column, Table } from "./table";

type Confirm = Schemas["ConfirmRead"];
type Cell = Schemas["ConfirmCell"];

export function Confirms({ of }: { of: readonly Confirm[] }) {
  if (of.length === 0) return <p class="muted">{t("confirm.none")}</p>;
  return (
    <>
      {of.map((each) => (
        <One key={each.id} of={each} />
      ))}
    </>
  );
}

function One({ of }: { of: Confirm }) {
  const cost = (found: Confirm["spent"]) => t("confirm.cost", { launches: count(found.launches), time: value("s", found.card_s, 3) });
  return (
    <div class="card">
      <p class="tags">
        {of.outcome ? <Outcome of={of.outcome} /> : <State of={of.state === "waiting" ? "queued" : "running"} />}
        <strong>{t(of.interleaved ? "confirm.interleaved" : "confirm.crossover")}</strong>
        {of.ended_by && <span class="muted">{member("ended_by", of.ended_by)}</span>}
        <span class="muted">{of.host}</span>
        {of.session_id && <a href={`/queue/${of.session_id}`}>{t("kind.session")}</a>}
      </p>
      {language.get() === "zh" ? <p>{of.reason_zh}</p> : <p lang="en">{of.reason}</p>}
      <ol class="looks">
        {of.looks.map((look) => (
          <li key={look.launches}>
            {t("confirm.look", { launches: count(look.launches) })} {look.outcome ? <Outcome of={look.outcome} /> : <span class="muted">{t("confirm.on")}</span>}
          </li>
        ))}
      </ol>
      {of.cells.length > 0 && <Cells of={of} />}
      <p class="muted">
        {t("confirm.spent", { spent: cost(of.spent), planned: cost(of.planned), confidence: percent(of.confidence, 0, false) })} · {of.asked_by}{" "}
        <Moment at={of.asked_at} brief />
      </p>
    </div>
  );
}

function Cells({ of }: { of: Confirm }) {
  const columns: Column<Cell>[] = [
    { key: "cell", title: t("field.cell"), value: (row) => row.title, heads: true, long: true, cell: (row) => <a href={address("/series", { condition: row.condition_key, protocol: row.protocol_key, metric: row.metric })}>{row.title}</a> },
    { key: "metric", title: t("field.metric"), value: (row) => row.metric, cell: (row) => metricName(row.metric) },
    { key: "suspected", title: t("confirm.suspected"), value: (row) => row.suspected, numeric: true, cell: (row) => percent(row.suspected) },
    { key: "confirmed", title: t("confirm.confirmed"), value: (row) => row.verdict?.worsening, numeric: true, cell: (row) => (row.verdict ? <Worsening of={row.verdict} /> : "–") },
    { key: "outcome", title: t("field.outcome"), value: (row) => row.verdict?.outcome, cell: (row) => (row.verdict ? <Outcome of={row.verdict.outcome} /> : "–") },
    { key: "launches", title: t("field.launches"), value: (row) => `${row.baseline_launches} + ${row.candidate_launches}`, wide: true },
  ];
  return <Table name={`confirm-${of.id.slice(0, 6)}`} caption={t("confirm.cells")} hideCaption rows={of.cells} columns={columns} keyOf={(row) => row.condition_key + row.protocol_key + row.metric} />;
}
