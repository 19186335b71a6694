// One gate: the word first, then what moved, what could not be judged and why, and what differs.

import type { Schemas } from "../../api/client";
import { useAnswer } from "../../api/use";
import { Shown } from "../../parts/asked";
import { Components, Differences } from "../../parts/differences";
import { Facts, Heading, Section } from "../../parts/fields";
import { Outcome, State } from "../../parts/outcome";
import { address } from "../../route";
import { value } from "../../shown/number";
import { Moment } from "../../shown/time";
import { member, t } from "../../words";
import { Controls, Judged, settledOf, Unjudged, Waivers } from "./tables";

type Answer = Schemas["GateAnswer"];

export default function GatePage({ id }: { id: string }) {
  const asked = useAnswer("/api/v1/gates/{gate_id}", { gate_id: id });
  const answer = asked.value?.answer;
  return (
    <>
      <Heading title={answer ? `${t("kind.gate")} · ${answer.candidate.stack_name}` : t("kind.gate")} sub={answer && <Word of={answer} />} />
      <Shown of={asked} lines={12}>
        {(read) => <Answered of={read.answer} />}
      </Shown>
    </>
  );
}

function Word({ of }: { of: Answer }) {
  return (
    <>
      <Outcome of={of.outcome} /> {t("gate.exit", { code: of.exit_code })}
      {of.state !== "finished" && (
        <>
          {" "}
          <State of={of.state} /> {t("gate.so_far")}
        </>
      )}
    </>
  );
}

function Answered({ of }: { of: Answer }) {
  const { base, candidate, components = [] } = of;
  const told = of.arguments ?? [];
  const settled = settledOf(of.cells);
  return (
    <>
      <Sides of={of} />
      {(of.notes ?? []).map((note) => (
        <p key={note} class="notice">
          {note}
        </p>
      ))}
      <Section title={t("gate.judged")}>
        <Judged of={of.cells} />
      </Section>
      <Section title={t("compare.unjudged")}>
        <Unjudged of={of.cells} />
      </Section>
      <Section title={t("gate.controls")}>
        <Controls of={of.cells} />
      </Section>
      {settled.length > 0 && (
        <Section title={t("compare.settled")}>
          <Differences name="settled" caption={t("compare.settled")} of={settled} />
        </Section>
      )}
      <Section title={t("compare.stacks", { baseline: base.stack_name, candidate: candidate.stack_name })}>
        {of.scope && <p>{t("stack.scope", { scope: member("scope", of.scope) })}</p>}
        <Components name="components" of={components} />
        {told.length > 0 && <Differences name="arguments" caption={t("stack.arguments")} of={told} />}
      </Section>
      <Section title={t("gate.waivers")}>
        <Waivers plan={of.plan} />
      </Section>
      {of.reproduce.length > 0 && (
        <Section title={t("gate.again")}>
          <pre class="scroll" tabIndex={0}>
            <code>{of.reproduce.join(" ")}</code>
          </pre>
        </Section>
      )}
    </>
  );
}

function Sides({ of }: { of: Answer }) {
  const { base, candidate, time } = of;
  return (
    <Facts
      of={[
        [t("field.plan"), of.plan],
        [t("field.base"), <a key="base" href={address("/matrix", { stack: base.stack_key })}>{base.stack_name}</a>],
        [t("gate.how"), base.found],
        [t("field.candidate"), <a key="candidate" href={address("/compare", { baseline: base.stack_key, candidate: candidate.stack_key })}>{candidate.stack_name}</a>],
        [t("gate.overrides"), (candidate.overrides ?? []).map((each) => each.asked).join(", ") || "–"],
        [t("field.session"), <a key="session" href={`/queue/${of.session_id}`}><code>{of.session_id.slice(0, 8)}</code></a>],
        [t("field.host"), of.host],
        [t("gate.spent"), t("gate.of_planned", { spent: value("s", time.spent_card_s, 3), planned: value("s", time.planned_card_s, 3) })],
        [t("field.asked_by"), of.asked_by],
        [t("field.asked_at"), <Moment key="asked" at={of.asked_at} brief />],
      ]}
    />
  );
}
