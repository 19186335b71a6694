// Incidents: deviations with one cause that somebody has to answer; the open ones first.

import type { Schemas } from "../../api/client";
import { useAnswer } from "../../api/use";
import { Empty, Shown } from "../../parts/asked";
import { Choice, Entry, Facts, Heading } from "../../parts/fields";
import { Incidents } from "../../parts/incidents";
import { address, changedAddress, go, usePlace } from "../../route";
import { count, percent } from "../../shown/number";
import { span } from "../../shown/time";
import { member, t } from "../../words";

const LIMIT = 12;
const TRIAGES: Schemas["Triage"][] = ["open", "fix", "accept", "noise", "host"];

export default function IncidentsPage() {
  const { query } = usePlace();
  const state = query.get("state") ?? "open";
  const asked = useAnswer("/api/v1/incidents", {}, {
    is_open: state === "open" ? true : state === "over" ? false : null,
    triage: query.get("triage"),
    owner: query.get("owner"),
    cursor: query.get("cursor"),
    limit: LIMIT,
  });
  return (
    <>
      <Heading title={t("nav.incidents")} sub={t("incidents.sub")} />
      <Record />
      <form class="filters" aria-label={t("matrix.filters")} onSubmit={(event) => event.preventDefault()}>
        <Choice
          label={t("field.state")}
          value={state}
          options={[["open", t("incidents.open")], ["over", t("incidents.over")], ["all", t("any")]]}
          onChange={(value) => go(changedAddress({ state: value === "open" ? null : value, cursor: null }))}
        />
        <Choice
          label={t("field.triage")}
          value={query.get("triage") ?? ""}
          options={TRIAGES.map((each) => [each, member("triage", each)])}
          onChange={(value) => go(changedAddress({ triage: value || null, cursor: null }))}
          any={t("any")}
        />
        <Entry label={t("field.owner")} value={query.get("owner") ?? ""} onChange={(owner) => go(changedAddress({ owner: owner || null, cursor: null }))} />
      </form>
      <Shown of={asked} lines={10}>
        {(page) =>
          page.incidents.length === 0 ? (
            <None state={state} />
          ) : (
            <>
              <Incidents of={page.incidents} />
              {page.cursor && (
                <p class="more">
                  <a href={changedAddress({ cursor: page.cursor })}>{t("incidents.older")}</a>
                </p>
              )}
            </>
          )
        }
      </Shown>
    </>
  );
}

function None({ state }: { state: string }) {
  return (
    <Empty command='kunline incident open EVENT --why "measured again by hand"'>
      {t(state === "open" ? "incidents.none_open" : "incidents.none")} <a href="/events">{t("nav.events")}</a>{" "}
      {state === "open" && <a href={address("/incidents", { state: "all" })}>{t("incidents.show_all")}</a>}
    </Empty>
  );
}

/** How right Kunline was, as people's answers tell. */
function Record() {
  const asked = useAnswer("/api/v1/incidents/record");
  const of = asked.value;
  const waiting = asked.problem ? "–" : "…";
  return (
    <Facts
      of={[
        [t("incidents.opened"), of ? count(of.opened) : waiting],
        [t("incidents.answered"), of ? count(of.answered) : waiting],
        [t("incidents.false_alarms"), of ? (of.false_alarm_rate === null ? "–" : percent(of.false_alarm_rate, 0, false)) : waiting],
        [t("incidents.to_verdict"), of ? span(of.to_verdict_s) : waiting],
        [t("incidents.to_triage"), of ? span(of.to_triage_s) : waiting],
      ]}
    />
  );
}
