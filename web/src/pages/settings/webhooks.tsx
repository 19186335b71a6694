// Notifications: who is told of incidents and verdicts, and what became of it.

import { useState } from "preact/hooks";
import { post, type Schemas } from "../../api/client";
import { useAnswer } from "../../api/use";
import { fieldsOf, useAct } from "../../parts/act";
import { Problem, Shown } from "../../parts/asked";
import { Sure } from "../../parts/sure";
import { type Column, Table } from "../../parts/table";
import { WhyWho } from "../../parts/whywho";
import { count } from "../../shown/number";
import { Moment } from "../../shown/time";
import { language, member, t } from "../../words";

type Webhook = Schemas["WebhookRead"];
type Delivery = Schemas["DeliveryRead"];

const FORMS: Schemas["WebhookOrder"]["form"][] = ["kunline", "feishu", "dingtalk", "wecom"];
const KINDS: Schemas["NotificationKind"][] = ["incident opened", "incident answered", "incident fixed", "verdict"];

export function Webhooks() {
  const asked = useAnswer("/api/v1/webhooks");
  const sent = useAnswer("/api/v1/webhooks/deliveries", {}, { limit: 20 });
  const again = () => {
    asked.again();
    sent.again();
  };
  return (
    <Shown of={asked} lines={4}>
      {(all) => (
        <>
          {all.length === 0 ? <p class="muted">{t("webhooks.none")}</p> : <List of={all} again={again} />}
          {(sent.value ?? []).length > 0 && <Deliveries of={sent.value ?? []} />}
          <Add done={again} />
        </>
      )}
    </Shown>
  );
}

function List({ of, again }: { of: readonly Webhook[]; again: () => void }) {
  const columns: Column<Webhook>[] = [
    { key: "name", title: t("field.name"), value: (row) => row.name, heads: true },
    { key: "form", title: t("webhooks.form"), value: (row) => row.form, cell: (row) => member("form", row.form) },
    { key: "host", title: t("field.host"), value: (row) => row.host },
    { key: "kinds", title: t("webhooks.kinds"), value: (row) => row.kinds.join(", "), long: true, cell: (row) => row.kinds.map((each) => member("told", each)).join(", ") },
    { key: "last_sent_at", title: t("webhooks.last"), value: (row) => row.last_sent_at, cell: (row) => <Last of={row} /> },
    { key: "acts", title: t("field.acts"), value: () => null, cell: (row) => (row.removed_at ? t("webhooks.removed") : <Acts of={row} again={again} />) },
  ];
  return <Table name="webhooks" caption={t("settings.webhooks")} hideCaption rows={of} columns={columns} keyOf={(row) => row.id} classOf={(row) => (row.removed_at ? "past" : "")} />;
}

function Last({ of }: { of: Webhook }) {
  return (
    <>
      <Moment at={of.last_sent_at} brief />
      {of.waiting > 0 && <span class="muted"> {t("webhooks.waiting", { number: count(of.waiting) })}</span>}
      {of.last_error && <span class="ink-worse" lang="en"> {of.last_error}</span>}
    </>
  );
}

function Acts({ of, again }: { of: Webhook; again: () => void }) {
  const { act, busy, problem } = useAct<unknown>(again);
  const remove = () => act(() => post("/api/v1/webhooks/{webhook_id}/removal", { webhook_id: of.id }, { why: "removed on the settings page" }));
  return (
    <span class="tags">
      <button type="button" class="slim" disabled={busy} aria-label={`${t("webhooks.test")} · ${of.name}`} onClick={() => act(() => post("/api/v1/webhooks/{webhook_id}/test", { webhook_id: of.id }))}>
        {t("webhooks.test")}
      </button>
      <Sure word={t("webhooks.remove")} label={`${t("webhooks.remove")} · ${of.name}`} question={t("webhooks.remove_ask", { name: of.name })} what={t("webhooks.remove_what")} busy={busy} act={remove} />
      {problem && <Problem error={problem} />}
    </span>
  );
}

function Deliveries({ of }: { of: readonly Delivery[] }) {
  const columns: Column<Delivery>[] = [
    { key: "made_at", title: t("history.at"), value: (row) => row.made_at, heads: true, cell: (row) => <Moment at={row.made_at} brief /> },
    { key: "webhook", title: t("field.name"), value: (row) => row.webhook_name },
    { key: "title", title: t("webhooks.told"), value: (row) => row.title, long: true },
    { key: "state", title: t("field.state"), value: (row) => row.state, cell: (row) => <span class={`tag ${row.state === "sent" ? "calm" : row.state === "waiting" ? "unsure" : "bad"}`}>{member("delivery", row.state)}</span> },
    { key: "attempts", title: t("field.attempt"), value: (row) => row.attempts, numeric: true },
    { key: "error", title: t("field.reason"), value: (row) => row.last_error, long: true },
  ];
  return <Table name="deliveries" caption={t("webhooks.deliveries")} rows={of} columns={columns} keyOf={(row) => row.id} />;
}

function Add({ done }: { done: () => void }) {
  const [turn, setTurn] = useState(0);
  const { act, busy, problem } = useAct<unknown>(() => {
    setTurn(turn + 1);
    done();
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const kinds = new FormData(event.currentTarget as HTMLFormElement).getAll("kind");
    const { kind: _, ...given } = fieldsOf(event.currentTarget);
    act(() => post("/api/v1/webhooks", {}, { ...given, kinds }));
  };
  return (
    <form key={turn} class="stackform" onSubmit={submit} aria-label={t("webhooks.add")}>
      <label class="choice">
        <span>{t("field.name")}</span>
        <input name="name" required maxLength={128} autoComplete="off" />
      </label>
      <label class="choice">
        <span>{t("webhooks.form")}</span>
        <select name="form">
          {FORMS.map((each) => (
            <option key={each} value={each}>{member("form", each)}</option>
          ))}
        </select>
      </label>
      <label class="choice grow">
        <span>{t("webhooks.address")}</span>
        <input name="address" required maxLength={2000} placeholder="https://…" autoComplete="off" />
      </label>
      <label class="choice">
        <span>{t("webhooks.secret")}</span>
        <input name="secret" type="password" minLength={16} autoComplete="off" />
      </label>
      <label class="choice">
        <span>{t("settings.language")}</span>
        <select name="language" value={language.get()}>
          <option value="en">English</option>
          <option value="zh">中文</option>
        </select>
      </label>
      <fieldset class="line">
        <legend>{t("webhooks.kinds")}</legend>
        {KINDS.map((each) => (
          <label key={each} class="tick">
            <input type="checkbox" name="kind" value={each} defaultChecked />
            {member("told", each)}
          </label>
        ))}
      </fieldset>
      <WhyWho />
      <button disabled={busy}>{t("webhooks.add")}</button>
      {problem && <Problem error={problem} />}
    </form>
  );
}
