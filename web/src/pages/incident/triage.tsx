// What a person answers to an incident, and takes back.

import { useState } from "preact/hooks";
import { type Schemas, post } from "../../api/client";
import { fieldsOf, useAct } from "../../parts/act";
import { Problem } from "../../parts/asked";
import type { Incident } from "../../parts/incidents";
import { WhyWho } from "../../parts/whywho";
import { member, t } from "../../words";

type Answer = Schemas["Triage"];
type Order = Schemas["TriageOrder"];

const ANSWERS: Answer[] = ["open", "fix", "accept", "noise", "host"];

export function Triage({ of, again }: { of: Incident; again: () => void }) {
  const [said, setSaid] = useState("");
  const done = () => {
    setSaid(t("incident.kept"));
    again();
  };
  if (of.merged_into) return <Undo of={of} done={done} said={said} />;
  return (
    <>
      {!of.is_open && <Undo of={of} done={done} said={said} />}
      {of.is_open && <AnswerForm key={of.triage} of={of} done={done} said={said} />}
    </>
  );
}

interface Wanted {
  of: Incident;
  done: () => void;
  said: string;
}

function AnswerForm({ of, done, said }: Wanted) {
  const [answer, setAnswer] = useState<Answer>(of.triage);
  const { act, busy, problem } = useAct(done);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const given = fieldsOf(event.currentTarget);
    const order = { ...given, comment: given.comment ?? "" } as unknown as Order;
    act(() => post("/api/v1/incidents/{incident_id}/triage", { incident_id: of.id }, order));
  };
  return (
    <form class="stackform" onSubmit={submit} aria-label={t("field.triage")}>
      <label class="choice">
        <span>{t("field.triage")}</span>
        <select name="triage" value={answer} onChange={(event) => setAnswer(event.currentTarget.value as Answer)}>
          {ANSWERS.map((each) => (
            <option key={each} value={each}>
              {member("triage", each)}
            </option>
          ))}
        </select>
      </label>
      {answer === "accept" && (
        <label class="choice">
          <span>{t("field.channel")}</span>
          <input name="channel" required maxLength={128} defaultValue="main" />
        </label>
      )}
      <label class="choice">
        <span>{t("field.owner")}</span>
        <input name="owner" maxLength={128} defaultValue={of.owner ?? ""} />
      </label>
      <label class="choice">
        <span>{t("field.due")}</span>
        <input name="due" type="date" defaultValue={of.due ?? ""} />
      </label>
      <label class="choice whole">
        <span>{t("field.comment")}</span>
        <textarea name="comment" rows={3} maxLength={4000} defaultValue={of.comment} />
      </label>
      <WhyWho />
      <button class="strong" disabled={busy}>
        {t("incident.answer")}
      </button>
      <p role="status" class="whole">
        {said || t(`triage.${answer}.means`)}
      </p>
      {problem && <Problem error={problem} />}
    </form>
  );
}

/** Open again what is over, or take it out of the one that it is part of. */
function Undo({ of, done, said }: Wanted) {
  const { act, busy, problem } = useAct(done);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const given = fieldsOf(event.currentTarget);
    act(() => post("/api/v1/incidents/{incident_id}/reopen", { incident_id: of.id }, given));
  };
  return (
    <form class="stackform" onSubmit={submit} aria-label={t("incident.undo")}>
      <p class="whole">
        {t(of.merged_into ? "incident.undo_merge_what" : "incident.undo_what")}{" "}
        {of.triage === "accept" && <a href="/baselines">{t("incident.undo_move")}</a>}
      </p>
      <WhyWho />
      <button disabled={busy}>{t("incident.undo")}</button>
      <p role="status" class="whole">{said}</p>
      {problem && <Problem error={problem} />}
    </form>
  );
}
