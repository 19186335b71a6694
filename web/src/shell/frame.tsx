// The frame of every page: where one may go, what one may search, how it looks.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { choose, language, type Word, t } from "../words";
import { type Theme, setTheme, theme } from "./theme";
import { Keys } from "./keys";
import { PLACES } from "./places";
import { Search } from "./search";
import { TokenButton, TokenEntry } from "./token";

export function Frame({ path, children }: { path: string; children: ComponentChildren }) {
  const places = useRef<HTMLElement>(null);
  // Where the window is narrow the places are one line, in which the present one is brought into view.
  useLayoutEffect(() => {
    const [line, now] = [places.current, places.current?.querySelector<HTMLElement>("[aria-current]")];
    if (line && now) line.scrollLeft = now.offsetLeft + now.offsetWidth / 2 - line.offsetLeft - line.clientWidth / 2;
  }, [path, language.get()]);
  return (
    <div class="frame">
      <a class="skip" href="#main">
        {t("nav.skip")}
      </a>
      <header class="side">
        <a href="/" class="mark">
          <img src="/mark.svg" alt="" width="24" height="24" />
          <span>Kunline</span>
        </a>
        <nav ref={places} aria-label={t("nav.label")}>
          <ul>
            {PLACES.map(([to, word]) => (
              <li key={to}>
                <a href={to} aria-current={isAt(path, to) ? "page" : undefined}>
                  {t(word)}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div class="tools">
          <Search />
          <Looks />
          <TokenButton />
          <Keys />
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <TokenEntry />
        {children}
      </main>
    </div>
  );
}

function isAt(path: string, to: string): boolean {
  return to === "/" ? path === "/" : path === to || path.startsWith(`${to}/`);
}

const THEMES: [Theme, Word][] = [
  ["system", "theme.system"],
  ["light", "theme.light"],
  ["dark", "theme.dark"],
];

function Looks() {
  const now = theme.use();
  const spoken = language.use();
  const [busy, setBusy] = useState(false);
  return (
    <div class="looks">
      <label>
        <span class="unseen">{t("theme.label")}</span>
        <select value={now} onChange={(event) => setTheme(event.currentTarget.value as Theme)}>
          {THEMES.map(([each, word]) => (
            <option key={each} value={each}>
              {t(word)}
            </option>
          ))}
        </select>
      </label>
      <button
        type="button"
        class="quiet"
        lang={spoken === "zh" ? "en" : "zh-CN"}
        disabled={busy}
        onClick={() => {
          setBusy(true);
          void choose(spoken === "zh" ? "en" : "zh").finally(() => setBusy(false));
        }}
      >
        {spoken === "zh" ? "English" : "中文"}
      </button>
    </div>
  );
}
