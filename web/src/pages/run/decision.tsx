// What people decide of a run: to take it out of every judgement, and to take that back.

import { post, type Schemas } from "../../api/client";
import { useAnswer } from "../../api/use";
import { fieldsOf, useAct } from "../../parts/act";
import { Problem, Shown } from "../../parts/asked";
import { History } from "../../parts/history";
import { WhyWho } from "../../parts/whywho";
import { t } from "../../words";

export function Decision({ of, again }: { of: Schemas["RunDetail"]; again: () => void }) {
  const asked = useAnswer("/api/v1/runs/{run_id}/history", { run_id: of.run.id });
  const { act, busy, problem } = useAct<unknown>(() => {
    asked.again();
    again();
  });
  const word = t(of.withdrawal ? "decision.restore" : "decision.withdraw");
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const { why, who = null } = fieldsOf(form);
    const path = of.withdrawal ? "/api/v1/runs/{run_id}/restoration" : "/api/v1/runs/{run_id}/withdrawal";
    act(async () => {
      await post(path, { run_id: of.run.id }, { reason: why, who });
      form.reset();
    });
  };
  return (
    <>
      <Shown of={asked} lines={2}>
        {(acts) => <History of={acts} />}
      </Shown>
      <form class="stackform" onSubmit={submit} aria-label={word}>
        <p class="whole">{t(of.withdrawal ? "decision.restore_what" : "decision.withdraw_what")}</p>
        <WhyWho />
        <button disabled={busy}>{word}</button>
        {problem && <Problem error={problem} />}
      </form>
    </>
  );
}
