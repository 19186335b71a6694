// What cards tell each other: the share of a token and of a prefill that is communication.

import type { Schemas } from "../../api/client";
import { useAnswer } from "../../api/use";
import { Problem } from "../../parts/asked";
import { Section } from "../../parts/fields";
import { type Column, Table } from "../../parts/table";
import { address } from "../../route";
import { bytes, count, percent, value } from "../../shown/number";
import { t } from "../../words";

type Cell = Schemas["CellCommunication"];
type Phase = Schemas["PhaseRead"];

export function Messages({ session }: { session: string }) {
  const asked = useAnswer("/api/v1/communication", {}, { session_id: session });
  const cells = (asked.value?.cells ?? []).filter((cell) => cell.tp > 1);
  if (asked.problem) return <Problem error={asked.problem} again={asked.again} />;
  if (cells.length === 0) return null;
  return (
    <Section title={t("messages.title")}>
      <p class="muted">{t("messages.means")}</p>
      {(asked.value?.slow_links ?? []).map((said) => (
        <p key={said} class="notice" lang="en">
          {said}
        </p>
      ))}
      <Shares of={cells} />
    </Section>
  );
}

function Shares({ of }: { of: readonly Cell[] }) {
  const phase = (name: "decode" | "prefill"): Column<Cell>[] => [
    { key: `${name}_share`, title: t(`messages.${name}`), value: (row) => row[name]?.share, numeric: true, cell: (row) => <Share of={row[name]} /> },
    { key: `${name}_seconds`, title: t("messages.seconds"), value: (row) => row[name]?.seconds, numeric: true, wide: true, cell: (row) => value("s", row[name]?.seconds, 3) },
    { key: `${name}_bytes`, title: t("messages.each"), value: (row) => row[name]?.message_bytes, numeric: true, wide: true, cell: (row) => sizes(row[name]) },
  ];
  const columns: Column<Cell>[] = [
    { key: "cell", title: t("field.cell"), value: (row) => row.title, heads: true, long: true, cell: (row) => <a href={address("/series", { condition: row.condition_key, protocol: row.protocol_key, metric: "tpot_p50" })}>{row.title}</a> },
    { key: "stack", title: t("field.stack"), value: (row) => row.stack.name },
    { key: "tp", title: t("field.tp"), value: (row) => row.tp, numeric: true },
    ...phase("decode"),
    ...phase("prefill"),
    { key: "host", title: t("field.host"), value: (row) => row.host, wide: true },
    { key: "reason", title: t("field.note"), value: (row) => row.reason, long: true, cell: (row) => <span lang="en">{row.reason || "–"}</span> },
  ];
  return <Table name="messages" caption={t("messages.title")} hideCaption rows={of} columns={columns} most={50} keyOf={(row) => row.condition_key + row.protocol_key + row.stack.key + row.host} />;
}

function Share({ of }: { of: Phase | null }) {
  if (!of) return <span class="muted">–</span>;
  return (
    <span class="nowrap" title={t(of.at_least ? "messages.at_least" : "messages.estimated")}>
      {of.at_least && "≥ "}
      {percent(of.share, 0, false)}
    </span>
  );
}

function sizes(of: Phase | null): string {
  return of ? `${count(of.messages)} × ${bytes(of.message_bytes)}` : "–";
}
