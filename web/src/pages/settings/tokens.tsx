// Tokens: who may ask for what, until when, and when each was last used; a secret is shown once.

import { useState } from "preact/hooks";
import { keepToken, post, type Schemas, token as ownToken } from "../../api/client";
import { useAnswer } from "../../api/use";
import { useAct } from "../../parts/act";
import { Problem, Shown } from "../../parts/asked";
import { Sure } from "../../parts/sure";
import { type Column, Table } from "../../parts/table";
import { Moment } from "../../shown/time";
import { member, t } from "../../words";

type Read = Schemas["TokenRead"];
type Issued = Schemas["TokenIssued"];
type Scope = Schemas["Scope"];

// Stands in the name of what was rotated away, before the time.
const OLD = "~";
const SCOPES: Scope[] = ["read", "ingest", "run", "triage", "admin"];

export function Tokens() {
  const asked = useAnswer("/api/v1/tokens");
  const [issued, setIssued] = useState<Issued>();
  const [chosen, choose] = useState<Read>();
  const done = (made: Issued) => {
    setIssued(made);
    choose(undefined);
    if (ownToken.get()) asked.again();
  };
  return (
    <>
      {issued && <Secret of={issued} />}
      <Shown of={asked} lines={5}>
        {(all) => (
          <>
            {all.length === 0 ? <p class="notice">{t("tokens.none")}</p> : <List of={all} again={asked.again} choose={choose} />}
            {chosen && <Rotate key={chosen.id} of={chosen} done={done} />}
            <Make first={all.length === 0} done={done} />
          </>
        )}
      </Shown>
    </>
  );
}

/** The secret of a new token, which no answer will hold again. */
function Secret({ of }: { of: Issued }) {
  const [copied, setCopied] = useState(false);
  const own = ownToken.use();
  return (
    <div class="notice" role="status">
      <p>{t("tokens.once", { name: of.token.name })}</p>
      <p>
        <code class="secret">{of.secret}</code>
      </p>
      <p class="tags">
        <button type="button" onClick={() => void navigator.clipboard?.writeText(of.secret).then(() => setCopied(true))}>
          {t(copied ? "tokens.copied" : "tokens.copy")}
        </button>
        {own !== of.secret && (
          <button type="button" onClick={() => keepToken(of.secret)}>
            {t("tokens.use_here")}
          </button>
        )}
      </p>
    </div>
  );
}

interface Choosing {
  again: () => void;
  choose: (token: Read) => void;
}

function List({ of, again, choose }: Choosing & { of: readonly Read[] }) {
  const columns: Column<Read>[] = [
    { key: "name", title: t("field.name"), value: (row) => row.name, heads: true },
    { key: "scopes", title: t("tokens.scopes"), value: (row) => row.scopes.join(" "), cell: (row) => row.scopes.map((each) => member("token.scope", each)).join(", ") },
    { key: "state", title: t("field.state"), value: (row) => (row.revoked_at ? "revoked" : row.counts ? "active" : "expired"), cell: (row) => <State of={row} /> },
    { key: "last_used_at", title: t("tokens.used"), value: (row) => row.last_used_at, cell: (row) => (row.last_used_at ? <Moment at={row.last_used_at} brief /> : <span class="muted">{t("tokens.never")}</span>) },
    { key: "expires_at", title: t("tokens.expires"), value: (row) => row.expires_at, cell: (row) => (row.expires_at ? <Moment at={row.expires_at} brief /> : <span class="muted">{t("tokens.endless")}</span>) },
    { key: "created_at", title: t("tokens.created"), value: (row) => row.created_at, cell: (row) => <Moment at={row.created_at} brief />, wide: true },
    { key: "acts", title: t("field.acts"), value: () => null, cell: (row) => (row.counts ? <Acts of={row} again={again} choose={choose} /> : "") },
  ];
  return <Table name="tokens" caption={t("settings.tokens")} hideCaption rows={of} columns={columns} keyOf={(row) => row.id} classOf={(row) => (row.counts ? "" : "past")} />;
}

function State({ of }: { of: Read }) {
  const word = of.revoked_at ? "tokens.revoked" : of.counts ? "tokens.counts" : "tokens.expired";
  return <span class={`tag ${of.counts ? "calm" : "unsure"}`}>{t(word)}</span>;
}

function Acts({ of, again, choose }: Choosing & { of: Read }) {
  const { act, busy, problem } = useAct(again);
  const revoke = () => act(() => post("/api/v1/tokens/{name}/revocation", { name: of.name }));
  return (
    <span class="tags">
      {!of.name.includes(OLD) && (
        <button type="button" class="slim" aria-label={`${t("tokens.rotate")} · ${of.name}`} onClick={() => choose(of)}>
          {t("tokens.rotate")}
        </button>
      )}
      <Sure word={t("tokens.revoke")} label={`${t("tokens.revoke")} · ${of.name}`} question={t("tokens.revoke_ask", { name: of.name })} what={t("tokens.revoke_what")} busy={busy} act={revoke} />
      {problem && <Problem error={problem} />}
    </span>
  );
}

/** Another secret under the same name, and for how long the old one counts beside it. */
function Rotate({ of, done }: { of: Read; done: (issued: Issued) => void }) {
  const { act, busy, problem } = useAct(done);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement);
    const order = { days: Number(given.get("days")) || null, grace_hours: Number(given.get("grace")) };
    act(() => post("/api/v1/tokens/{name}/rotation", { name: of.name }, order));
  };
  return (
    <form class="stackform" onSubmit={submit} aria-label={t("tokens.rotate")}>
      <p class="whole">{t("tokens.rotate_what", { name: of.name })}</p>
      <label class="choice">
        <span>{t("tokens.grace")}</span>
        <input name="grace" type="number" min={0} max={720} required defaultValue={24} />
      </label>
      <label class="choice">
        <span>{t("tokens.days")}</span>
        <input name="days" type="number" min={1} max={3650} placeholder={t("tokens.endless")} />
      </label>
      <button class="strong" disabled={busy}>
        {t("tokens.rotate")}
      </button>
      {problem && <Problem error={problem} />}
    </form>
  );
}

function Make({ first, done }: { first: boolean; done: (issued: Issued) => void }) {
  const { act, busy, problem } = useAct(done);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const given = new FormData(form);
    const days = Number(given.get("days"));
    const order = { name: String(given.get("name")).trim(), scopes: given.getAll("scope"), days: days || null };
    act(async () => {
      const issued = await post("/api/v1/tokens", {}, order);
      form.reset();
      return issued;
    });
  };
  return (
    <form class="stackform" onSubmit={submit} aria-label={t("tokens.make")}>
      {first && <p class="whole">{t("tokens.first")}</p>}
      <label class="choice">
        <span>{t("field.name")}</span>
        <input name="name" required maxLength={128} pattern="[A-Za-z0-9][A-Za-z0-9._+=\-]*" autoComplete="off" />
      </label>
      <fieldset class="line">
        <legend>{t("tokens.scopes")}</legend>
        {SCOPES.map((each) => (
          <label key={each} class="tick">
            <input type="checkbox" name="scope" value={each} defaultChecked={first ? each === "admin" : each === "read"} />
            {member("token.scope", each)}
          </label>
        ))}
      </fieldset>
      <label class="choice">
        <span>{t("tokens.days")}</span>
        <input name="days" type="number" min={1} max={3650} placeholder={t("tokens.endless")} />
      </label>
      <button class="strong" disabled={busy}>
        {t("tokens.make")}
      </button>
      {problem && <Problem error={problem} />}
    </form>
  );
}
