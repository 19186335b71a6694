// What was done to a thing: who, when, why, and what it changed.

import type { Schemas } from "../api/client";
import { type Column, Table } from "./table";
import { Moment } from "../shown/time";
import { member, t } from "../words";

type Act = Schemas["AuditRead"];

export function History({ of }: { of: readonly Act[] }) {
  if (of.length === 0) return <p class="muted">{t("history.none")}</p>;
  const columns: Column<Act>[] = [
    { key: "at", title: t("history.at"), value: (row) => row.at, heads: true, cell: (row) => <Moment at={row.at} /> },
    { key: "act", title: t("history.act"), value: (row) => row.act, cell: (row) => member("act", row.act) },
    { key: "actor", title: t("history.actor"), value: (row) => row.actor },
    { key: "reason", title: t("field.why"), value: (row) => row.reason, long: true },
    { key: "changed", title: t("history.changed"), value: changedIn, long: true },
  ];
  return <Table name="history" caption={t("history.title")} hideCaption rows={of} columns={columns} keyOf={(row) => row.at + row.act} />;
}

function changedIn({ before, after }: Act): string {
  const was = before ?? {};
  return Object.entries(after ?? {})
    .filter(([name, value]) => name !== "id" && before && JSON.stringify(was[name]) !== JSON.stringify(value))
    .map(([name, value]) => `${member("field", name)}: ${said(was[name])} → ${said(value)}`)
    .join("; ");
}

function said(value: unknown): string {
  if (value === null || value === undefined || value === "") return "–";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return member("triage", text);
}
