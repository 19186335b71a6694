// Compatibility: which stack was seen to work with which model on which card, and as of when.

import { useAnswer } from "../../api/use";
import { Empty, Shown } from "../../parts/asked";
import { Choice, Entry, Heading, Section } from "../../parts/fields";
import { changedAddress, go, usePlace } from "../../route";
import { count } from "../../shown/number";
import { type Word, member, t } from "../../words";
import { Pivot } from "./pivot";
import { Declared, Lines } from "./tables";

const LIMIT = 100;
const STATES = ["works", "works, regressed", "broken", "untested"];
const WRITTEN: [string, Word][] = [
  ["model", "field.model"],
  ["card_model", "field.card_model"],
  ["component", "compat.component"],
];

export default function CompatPage() {
  const { query } = usePlace();
  const wanted = {
    model: query.get("model"),
    card_model: query.get("card_model"),
    state: query.get("state"),
    component: query.get("component"),
  };
  const asked = useAnswer("/api/v1/compat", {}, { ...wanted, limit: LIMIT, cursor: query.get("cursor") });
  const row = query.get("row");
  const column = query.get("column");
  return (
    <>
      <Heading title={t("nav.compat")} sub={t("compat.sub")}>
        <a href="/upgrade">{t("nav.upgrade")}</a>
      </Heading>
      <Filters of={query} />
      <Shown of={asked} lines={10}>
        {(page) => (
          <>
            {page.due > 0 && <p class="muted">{t("compat.due", { stacks: count(page.due) })}</p>}
            {page.entries.length === 0 ? (
              <Empty command="kunline qualify --help">{t("compat.none")}</Empty>
            ) : (
              <Lines of={page.entries} />
            )}
            {page.cursor && (
              <p class="more">
                <a href={changedAddress({ cursor: page.cursor })}>{t("compat.older")}</a>
              </p>
            )}
          </>
        )}
      </Shown>
      <Section title={t("compat.pivot")}>
        <Turn of={query} />
        {row && column ? <Pivot row={row} column={column} wanted={wanted} /> : <p class="muted">{t("compat.pivot_choose")}</p>}
      </Section>
      <Section title={t("compat.declared")}>
        <Declared />
      </Section>
    </>
  );
}

function Written({ name, label, value }: { name: string; label: string; value: string }) {
  return <Entry name={name} label={label} value={value} onChange={(words) => go(changedAddress({ [name]: words || null, cursor: null }))} />;
}

function Filters({ of }: { of: URLSearchParams }) {
  return (
    <form class="filters" aria-label={t("matrix.filters")} onSubmit={(event) => event.preventDefault()}>
      {WRITTEN.map(([name, word]) => (
        <Written key={name} name={name} label={t(word)} value={of.get(name) ?? ""} />
      ))}
      <Choice
        label={t("field.state")}
        value={of.get("state") ?? ""}
        options={STATES.map((state) => [state, member("compat", state)])}
        onChange={(state) => go(changedAddress({ state: state || null, cursor: null }))}
        any={t("any")}
      />
    </form>
  );
}

function Turn({ of }: { of: URLSearchParams }) {
  return (
    <form class="filters" aria-label={t("compat.pivot")} onSubmit={(event) => event.preventDefault()}>
      <Written name="row" label={t("compat.down")} value={of.get("row") ?? ""} />
      <Written name="column" label={t("compat.across")} value={of.get("column") ?? ""} />
    </form>
  );
}
