// Gates: candidate builds that were held to a base, the newest first.

import type { Schemas } from "../../api/client";
import { useAnswer } from "../../api/use";
import { Empty, Shown } from "../../parts/asked";
import { Heading } from "../../parts/fields";
import { Outcome, State } from "../../parts/outcome";
import { type Column, Table } from "../../parts/table";
import { Moment } from "../../shown/time";
import { t } from "../../words";

type Gate = Schemas["GateListed"];

const LIMIT = 100;

export default function GatesPage() {
  const asked = useAnswer("/api/v1/gates", {}, { limit: LIMIT });
  return (
    <>
      <Heading title={t("nav.gates")} sub={t("gates.sub")} />
      <Shown of={asked} lines={10}>
        {(gates) =>
          gates.length === 0 ? <Empty command="kunline gate --help">{t("gates.none")}</Empty> : <Gates of={gates} />
        }
      </Shown>
    </>
  );
}

function Gates({ of }: { of: readonly Gate[] }) {
  const columns: Column<Gate>[] = [
    { key: "candidate", title: t("field.candidate"), value: (row) => row.candidate, heads: true, long: true, cell: (row) => <a href={`/gates/${row.id}`}>{row.candidate}</a> },
    { key: "outcome", title: t("field.outcome"), value: (row) => row.outcome ?? row.state, cell: (row) => <Word of={row} /> },
    { key: "base", title: t("field.base"), value: (row) => row.base },
    { key: "plan", title: t("field.plan"), value: (row) => row.plan },
    { key: "asked_by", title: t("field.asked_by"), value: (row) => row.asked_by, wide: true },
    { key: "asked_at", title: t("field.asked_at"), value: (row) => row.asked_at, cell: (row) => <Moment at={row.asked_at} brief /> },
  ];
  return <Table name="gates" caption={t("nav.gates")} hideCaption rows={of} columns={columns} keyOf={(row) => row.id} />;
}

/** What a gate says by now; one that its plan lets pass without a verdict says so. */
function Word({ of }: { of: Gate }) {
  if (!of.outcome) return <State of={of.state} />;
  return (
    <span class="tags">
      <Outcome of={of.outcome} />
      <span class="muted">{t("gate.exit", { code: of.exit_code ?? "–" })}</span>
      {of.exit_code === 0 && of.outcome === "inconclusive" && <span class="muted">{t("gate.passes")}</span>}
    </span>
  );
}
