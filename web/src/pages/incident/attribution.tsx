// Which component it was: every combo that was measured, each one step closer to the cause.

import type { Schemas } from "../../api/client";
import { Empty } from "../../parts/asked";
import { Worsening } from "../../parts/outcome";
import { address } from "../../route";
import { metricName } from "../../shown/metric";
import { count, value } from "../../shown/number";
import { Moment } from "../../shown/time";
import { member, t } from "../../words";

type Attribution = Schemas["AttributionRead"];
type Combo = Schemas["ComboRead"];
type Step = Schemas["StepRead"];

export function Attributions({ of, incident }: { of: readonly Attribution[]; incident: string }) {
  const command = `kunline incident attribute ${incident.slice(0, 8)}`;
  if (of.length === 0) return <Empty command={command}>{t("attribution.none")}</Empty>;
  return (
    <>
      {of.map((each) => (
        <One key={each.id} of={each} command={command} />
      ))}
    </>
  );
}

function One({ of, command }: { of: Attribution; command: string }) {
  const { answer } = of;
  return (
    <div class="card">
      <p class="sentence">{sentence(of)}</p>
      {(answer.found ?? []).length > 0 && <Parts of={answer.found ?? []} />}
      {answer.followed && (
        <p>
          {t("attribution.followed")}{" "}
          <a href={address("/compare", { session: answer.followed.session_id })}>
            {answer.followed.title} · {metricName(answer.followed.verdict.metric)}
          </a>{" "}
          <Worsening of={answer.followed.verdict} />
        </p>
      )}
      {[...(answer.explained ?? []), answer.stopped].filter(Boolean).map((said) => (
        <p key={said} class="notice" lang="en">
          {said}
        </p>
      ))}
      <Tree steps={answer.steps} combos={answer.combos ?? []} />
      <p class="muted">
        {t("attribution.spent", { launches: count(of.launches), spent: value("s", of.card_s, 3), most: count(answer.most_combos) })} · {of.started_by}{" "}
        <Moment at={of.started_at} />
      </p>
      {of.state !== "ended" && <Empty command={command}>{t(of.state === "searching" ? "attribution.searching" : "attribution.stopped")}</Empty>}
    </div>
  );
}

function sentence(of: Attribution): string {
  const named = (of.answer.found ?? []).flatMap((step) => step.parts.map((part) => part.name)).join(" + ");
  if (of.answer.cause) return t("attribution.is", { cause: member("cause", of.answer.cause), named });
  return t(of.state === "ended" ? "attribution.nothing" : "attribution.not_yet");
}

function Parts({ of }: { of: readonly Step[] }) {
  return (
    <ul class="plain">
      {of.flatMap((step) =>
        step.parts.map((part) => (
          <li key={part.name}>
            <strong>{part.name}</strong> <code>{part.good}</code> → <code>{part.bad}</code> <span class="muted">{member("scope", part.scope)}</span>
          </li>
        )),
      )}
    </ul>
  );
}

/** Each combo lies one level deeper than the one before: what it had to choose from is fewer. */
function Tree({ steps, combos }: { steps: readonly Step[]; combos: readonly Combo[] }) {
  return (
    <ol class="tree" aria-label={t("attribution.tree")}>
      <li>
        {t("attribution.differs")} <Names of={steps.flatMap((step) => step.parts.map((part) => part.name))} />
        {steps.some((step) => step.held) && <span class="muted"> {t("attribution.held")}</span>}
      </li>
      {combos.map((combo, place) => (
        <li key={combo.stack_key + place}>
          <Measured of={combo} />
        </li>
      ))}
    </ol>
  );
}

function Names({ of }: { of: readonly string[] }) {
  return (
    <span class="tags">
      {of.map((name) => (
        <code key={name}>{name}</code>
      ))}
    </span>
  );
}

const TONES: Record<string, string> = { "as the good stack": "calm", "as the bad stack": "worse", broken: "bad" };

function Measured({ of }: { of: Combo }) {
  return (
    <>
      {(of.candidates ?? []).length > 0 && (
        <>
          {t("attribution.among")} <Names of={of.candidates ?? []} /> ·{" "}
        </>
      )}
      {t("attribution.took")} <Names of={of.at_bad} />{" "}
      <span class={`tag ${TONES[of.level] ?? "unsure"}`}>{member("level", of.level)}</span>{" "}
      {of.verdict && <Worsening of={of.verdict} />} {of.broken && <span lang="en">{of.broken}</span>}{" "}
      <a href={address("/compare", { session: of.session_id })}>{of.stack_name}</a> {of.cached && <span class="muted">{t("attribution.cached")}</span>}
    </>
  );
}
