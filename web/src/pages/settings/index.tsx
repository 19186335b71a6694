// Settings: how this browser shows things, and who may ask the service for what.

import { Heading, Section } from "../../parts/fields";
import { type Theme, setTheme, theme } from "../../shell/theme";
import { type Times, setTimes, times } from "../../shown/time";
import { type Language, choose, language, t } from "../../words";
import { Tokens } from "./tokens";
import { Webhooks } from "./webhooks";

const THEMES: Theme[] = ["system", "light", "dark"];
const TIMES: Times[] = ["ago", "exact"];
const LANGUAGES: [Language, string][] = [["en", "English"], ["zh", "中文"]];

export default function SettingsPage() {
  return (
    <>
      <Heading title={t("nav.settings")} sub={t("settings.sub")} />
      <Section title={t("settings.browser")}>
        <Looks />
      </Section>
      <Section title={t("settings.tokens")}>
        <Tokens />
      </Section>
      <Section title={t("settings.webhooks")}>
        <Webhooks />
      </Section>
    </>
  );
}

function Looks() {
  const [shown, spoken, told] = [theme.use(), language.use(), times.use()];
  return (
    <div class="columns">
      <fieldset>
        <legend>{t("theme.label")}</legend>
        {THEMES.map((each) => (
          <label key={each} class="tick">
            <input type="radio" name="theme" checked={shown === each} onChange={() => setTheme(each)} />
            {t(`theme.${each}`)}
          </label>
        ))}
      </fieldset>
      <fieldset>
        <legend>{t("settings.language")}</legend>
        {LANGUAGES.map(([each, name]) => (
          <label key={each} class="tick" lang={each === "zh" ? "zh-CN" : "en"}>
            <input type="radio" name="language" checked={spoken === each} onChange={() => void choose(each)} />
            {name}
          </label>
        ))}
      </fieldset>
      <fieldset>
        <legend>{t("settings.times")}</legend>
        {TIMES.map((each) => (
          <label key={each} class="tick">
            <input type="radio" name="times" checked={told === each} onChange={() => setTimes(each)} />
            {t(`times.${each}`)}
          </label>
        ))}
      </fieldset>
    </div>
  );
}
