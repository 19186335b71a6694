// Why something is done, and by whom where no token says so.

import { token } from "../api/client";
import { t } from "../words";

export function WhyWho() {
  const secret = token.use();
  return (
    <>
      <label class="choice grow">
        <span>{t("field.why")}</span>
        <input name="why" required maxLength={1000} />
      </label>
      {!secret && (
        <label class="choice">
          <span>{t("field.who")}</span>
          <input name="who" maxLength={128} required autoComplete="name" />
        </label>
      )}
    </>
  );
}
