// Incidents with one cause put together, and one with several taken apart.

import { post, type Schemas } from "../../api/client";
import { useAnswer } from "../../api/use";
import { fieldsOf, useAct } from "../../parts/act";
import { Problem } from "../../parts/asked";
import { More } from "../../parts/fields";
import { type Incident, nameOf } from "../../parts/incidents";
import { WhyWho } from "../../parts/whywho";
import { address, go } from "../../route";
import { t } from "../../words";

// As many others are offered; an older one is named by its page's address.
const OFFERED = 100;

export function Regroup({ of }: { of: Incident }) {
  if (of.merged_into) return null;
  const conditions = new Map(of.cells.map((cell) => [cell.condition_key, cell.title]));
  return (
    <>
      <More summary={t("regroup.merge")}>
        <Merge of={of} />
      </More>
      {conditions.size > 1 && (
        <More summary={t("regroup.split")}>
          <Split of={of} conditions={conditions} />
        </More>
      )}
    </>
  );
}

function useLeading() {
  return useAct((found: Schemas["IncidentRead"]) => go(address(`/incidents/${found.id}`)));
}

function Merge({ of }: { of: Incident }) {
  const asked = useAnswer("/api/v1/incidents", {}, { is_open: true, limit: OFFERED });
  const { act, busy, problem } = useLeading();
  const others = (asked.value?.incidents ?? []).filter((each) => each.id !== of.id && each.direction === of.direction);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const given = fieldsOf(event.currentTarget);
    act(() => post("/api/v1/incidents/{incident_id}/merge", { incident_id: of.id }, given));
  };
  if (asked.problem) return <Problem error={asked.problem} again={asked.again} />;
  if (others.length === 0) return <p class="muted">{t("regroup.alone")}</p>;
  return (
    <form class="stackform" onSubmit={submit} aria-label={t("regroup.merge")}>
      <p class="whole">{t("regroup.merge_what")}</p>
      <label class="choice">
        <span>{t("regroup.into")}</span>
        <select name="into" required>
          <option value="">{t("compare.choose_one")}</option>
          {others.map((each) => (
            <option key={each.id} value={each.id}>
              {nameOf(each)} · {each.id.slice(0, 8)}
            </option>
          ))}
        </select>
      </label>
      <WhyWho />
      <button disabled={busy}>{t("regroup.merge")}</button>
      {problem && <Problem error={problem} />}
    </form>
  );
}

function Split({ of, conditions }: { of: Incident; conditions: Map<string, string> }) {
  const { act, busy, problem } = useLeading();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const keys = new FormData(event.currentTarget as HTMLFormElement).getAll("condition");
    const { condition: _, ...given } = fieldsOf(event.currentTarget);
    act(() => post("/api/v1/incidents/{incident_id}/split", { incident_id: of.id }, { ...given, condition_keys: keys }));
  };
  return (
    <form class="stackform" onSubmit={submit} aria-label={t("regroup.split")}>
      <p class="whole">{t("regroup.split_what")}</p>
      <fieldset class="line whole many">
        <legend>{t("regroup.cells")}</legend>
        {[...conditions].map(([key, title]) => (
          <label key={key} class="tick">
            <input type="checkbox" name="condition" value={key} />
            {title}
          </label>
        ))}
      </fieldset>
      <WhyWho />
      <button disabled={busy}>{t("regroup.split")}</button>
      {problem && <Problem error={problem} />}
    </form>
  );
}
