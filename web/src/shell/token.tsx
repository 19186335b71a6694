// The token of services that need one: asked for when the service says so, kept in this tab.

import { useState } from "preact/hooks";
import { keepToken, token, tokenAsked } from "../api/client";
import { t } from "../words";

export function TokenButton() {
  const secret = token.use();
  if (!secret) return null;
  return (
    <button
      type="button"
      class="quiet"
      onClick={() => {
        keepToken("");
        location.reload();
      }}
    >
      {t("token.forget")}
    </button>
  );
}

export function TokenEntry() {
  const asked = tokenAsked.use();
  const [secret, setSecret] = useState("");
  if (!asked) return null;
  return (
    <form
      class="notice"
      onSubmit={(event) => {
        event.preventDefault();
        tokenAsked.set(false);
        keepToken(secret.trim());
      }}
    >
      <label class="choice">
        <span>{t("token.label")}</span>
        <input
          type="password"
          autoComplete="off"
          required
          value={secret}
          onInput={(event) => setSecret(event.currentTarget.value)}
        />
      </label>
      <button>{t("token.use")}</button>
      <p class="muted">
        {t("token.words")} <code>kunline token create dashboard --scope read --scope triage</code>
      </p>
    </form>
  );
}
