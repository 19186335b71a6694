// What sets two sides apart, field by field.

import type { Schemas } from "../api/client";
import { useAnswer } from "../api/use";
import { member, t } from "../words";
import { Shown } from "./asked";
import { type Column, Table } from "./table";

interface Difference {
  field: string;
  baseline: string;
  candidate: string;
}

export function Differences({ name, caption, of }: { name: string; caption: string; of: readonly Difference[] }) {
  if (of.length === 0) return <p class="muted">{t("differences.none")}</p>;
  const columns: Column<Difference>[] = [
    { key: "field", title: t("field.field"), value: (row) => row.field, heads: true },
    { key: "baseline", title: t("field.baseline"), value: (row) => row.baseline, wraps: true, cell: (row) => <code>{row.baseline}</code> },
    { key: "candidate", title: t("field.candidate"), value: (row) => row.candidate, wraps: true, cell: (row) => <code>{row.candidate}</code> },
  ];
  return <Table name={name} caption={caption} hideCaption rows={of} columns={columns} keyOf={(row) => row.field + row.baseline} />;
}

type Component = Schemas["ComponentChange"];

export function StackDiff({ baseline, candidate }: { baseline: string; candidate: string }) {
  const asked = useAnswer("/api/v1/stacks/{key}/diff/{candidate}", { key: baseline, candidate });
  return (
    <Shown of={asked} lines={4}>
      {(value) => (
        <>
          {value.scope && <p>{t("stack.scope", { scope: member("scope", value.scope) })}</p>}
          <Components name={`components-${candidate.slice(0, 6)}`} of={value.components} />
          {value.arguments.length > 0 && (
            <Differences name="arguments" caption={t("stack.arguments")} of={value.arguments} />
          )}
        </>
      )}
    </Shown>
  );
}

export function Components({ name, of }: { name: string; of: readonly Component[] }) {
  if (of.length === 0) return <p class="muted">{t("stack.same")}</p>;
  const columns: Column<Component>[] = [
    { key: "component", title: t("field.component"), value: (row) => row.name, heads: true },
    { key: "layer", title: t("field.layer"), value: (row) => row.layer, cell: (row) => member("layer", row.layer), wide: true },
    { key: "baseline", title: t("field.baseline"), value: (row) => row.baseline, wraps: true, cell: (row) => <code>{row.baseline}</code> },
    { key: "candidate", title: t("field.candidate"), value: (row) => row.candidate, wraps: true, cell: (row) => <code>{row.candidate}</code> },
    { key: "scope", title: t("field.scope"), value: (row) => row.scope, cell: (row) => member("scope", row.scope) },
    {
      key: "recorded",
      title: t("field.note"),
      value: (row) => row.recorded,
      cell: (row) => row.recorded && <span class="muted">{t("stack.recorded")}</span>,
      wide: true,
    },
  ];
  return <Table name={name} caption={t("stack.components")} rows={of} columns={columns} keyOf={(row) => row.name} />;
}
