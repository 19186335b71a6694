// May I move from one stack to another? The question is the address, so that it can be sent.

import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiError, type Schemas, post, token } from "../../api/client";
import { known, useAnswer } from "../../api/use";
import { waitedFor } from "../../api/waited";
import { Shown } from "../../parts/asked";
import { Heading } from "../../parts/fields";
import { address, go, usePlace } from "../../route";
import { t } from "../../words";
import { Told } from "./told";

type Advice = Schemas["AdviceRead"];

const FIELDS = ["from", "to", "set", "model", "card_model", "cards"];

/** Return the components set, written as name=version with spaces or commas between. */
function versionsOf(text: string): Record<string, string> {
  const pairs = text.split(/[\s,]+/).filter((each) => each.includes("="));
  return Object.fromEntries(pairs.map((each) => [each.slice(0, each.indexOf("=")), each.slice(each.indexOf("=") + 1)]));
}

function questionOf(query: URLSearchParams): object | null {
  const versions = versionsOf(query.get("set") ?? "");
  const from = query.get("from");
  const to = query.get("to");
  if (!from || (!to && Object.keys(versions).length === 0)) return null;
  const cards = Number(query.get("cards"));
  return {
    from_stack: from,
    to_stack: to,
    versions,
    model: query.get("model"),
    card_model: query.get("card_model"),
    cards: cards > 0 ? cards : null,
  };
}

export default function UpgradePage() {
  const { query } = usePlace();
  const question = questionOf(query);
  // Only what somebody asked here counts in what people want to know; a link that is opened does not.
  const submitted = useRef(false);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    submitted.current = true;
    go(address("/upgrade", Object.fromEntries(FIELDS.map((name) => [name, String(form.get(name) ?? "").trim()]))));
  };
  return (
    <>
      <Heading title={t("nav.upgrade")} sub={t("upgrade.sub")}>
        <a href="/compat">{t("nav.compat")}</a>
      </Heading>
      <Form key={query.toString()} of={query} submit={submit} />
      {question ? <Asking body={JSON.stringify(question)} counts={submitted} /> : <p class="muted">{t("upgrade.choose")}</p>}
    </>
  );
}

interface Answered {
  to: string;
  advice?: Advice;
  problem?: ApiError;
}

function Asking({ body, counts }: { body: string; counts: { current: boolean } }) {
  const [answered, setAnswered] = useState<Answered>();
  const [turn, setTurn] = useState(0);
  const secret = token.use();
  useEffect(() => {
    let listening = true;
    const keep = counts.current;
    counts.current = false;
    setAnswered(undefined);
    waitedFor(post("/api/v1/compat/check", {}, { ...(JSON.parse(body) as object), keep })).then(
      (advice) => listening && setAnswered({ to: body, advice }),
      (error: unknown) => listening && setAnswered({ to: body, problem: known(error) }),
    );
    return () => {
      listening = false;
    };
  }, [body, secret, turn]);
  const told = answered?.to === body ? answered : undefined;
  return (
    <Shown of={{ value: told?.advice, problem: told?.problem, loading: !told, again: () => setTurn((before) => before + 1) }} lines={10}>
      {(advice) => <Told of={advice} />}
    </Shown>
  );
}

function Form({ of, submit }: { of: URLSearchParams; submit: (event: SubmitEvent) => void }) {
  const stacks = useAnswer("/api/v1/stacks", {}, { limit: 200 });
  const given = (name: string) => of.get(name) ?? "";
  const names = new Map((stacks.value ?? []).map((each): [string, string] => [each.key, each.stack.name]));
  for (const side of ["from", "to"]) if (given(side) && !names.has(given(side))) names.set(given(side), given(side));
  return (
    <form class="stackform" aria-label={t("nav.upgrade")} onSubmit={submit}>
      {(["from", "to"] as const).map((side) => (
        <label key={side} class="choice">
          <span>{t(`upgrade.${side}`)}</span>
          <select name={side} required={side === "from"} value={given(side)}>
            <option value="">{t("compare.choose_one")}</option>
            {[...names].map(([key, name]) => (
              <option key={key} value={key} selected={key === given(side)}>
                {name}
              </option>
            ))}
          </select>
        </label>
      ))}
      <label class="choice grow">
        <span>{t("upgrade.set")}</span>
        <input name="set" placeholder="torch=2.10.0" defaultValue={given("set")} />
      </label>
      <label class="choice">
        <span>{t("field.model")}</span>
        <input name="model" defaultValue={given("model")} />
      </label>
      <label class="choice">
        <span>{t("field.card_model")}</span>
        <input name="card_model" defaultValue={given("card_model")} />
      </label>
      <label class="choice">
        <span>{t("field.cards")}</span>
        <input name="cards" type="number" min={1} defaultValue={given("cards")} />
      </label>
      <button class="strong">{t("upgrade.act")}</button>
    </form>
  );
}
