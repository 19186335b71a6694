// The keyboard: j and k walk the rows of a page, / searches, ? tells of the keys.

import { useEffect, useRef } from "preact/hooks";
import { go } from "../route";
import { type Word, t } from "../words";

const GOES: Record<string, string> = {
  o: "/",
  m: "/matrix",
  s: "/series",
  c: "/compare",
  r: "/runs",
  q: "/queue",
  h: "/hosts",
  b: "/baselines",
  i: "/incidents",
  e: "/events",
  x: "/settings",
  t: "/gates",
  v: "/compat",
  u: "/upgrade",
};

const TOLD: [string, Word][] = [
  ["/", "keys.search"],
  ["j", "keys.next"],
  ["k", "keys.previous"],
  ["Enter", "keys.open"],
  ["g o · g m · g s · g c · g r · g q · g h · g b · g i · g e · g t · g v · g u · g x", "keys.go"],
  ["?", "keys.help"],
  ["Esc", "keys.close"],
];

// So long after g, the next key names a page.
const GO_MS = 1200;

function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input, textarea, select, dialog[open]") !== null;
}

/** Move the focus to the next row's first link or button, or to the one before. */
function walk(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>("main [data-row]")];
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const next = rows[at < 0 ? (step > 0 ? 0 : rows.length - 1) : at + step];
  const target = next?.querySelector<HTMLElement>("a, button, input");
  target?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

export function Keys() {
  const help = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    let going = 0;
    const pressed = (event: KeyboardEvent) => {
      if (event.metaKey || event.ctrlKey || event.altKey || typing(event.target)) return;
      if (performance.now() < going && GOES[event.key]) {
        event.preventDefault();
        going = 0;
        go(GOES[event.key] ?? "/");
      } else if (event.key === "g") going = performance.now() + GO_MS;
      else if (event.key === "j") walk(1);
      else if (event.key === "k") walk(-1);
      else if (event.key === "?") help.current?.showModal();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
  return (
    <>
      <button type="button" class="quiet" aria-label={t("keys.title")} onClick={() => help.current?.showModal()}>
        ?
      </button>
      <dialog ref={help} aria-labelledby="keys-title">
        <h2 id="keys-title">{t("keys.title")}</h2>
        <dl class="facts">
          {TOLD.map(([key, word]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{t(word)}</dd>
            </div>
          ))}
        </dl>
        <form method="dialog">
          <button>{t("close")}</button>
        </form>
      </dialog>
    </>
  );
}
