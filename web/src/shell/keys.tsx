// The keyboard: j and k walk the rows of a page, / searches, ? tells of the keys.

import { useEffect, useRef } from "preact/hooks";
import { go } from "../route";
import { type Word, t } from "../words";
import { PLACES } from "./places";

const TOLD: [string, Word][] = [
  ["/", "search.title"],
  ["j", "keys.next"],
  ["k", "keys.previous"],
  ["Enter", "keys.open"],
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
      const place = performance.now() < going && PLACES.find(([, , key]) => key === event.key);
      if (place) {
        event.preventDefault();
        going = 0;
        go(place[0]);
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
        <Told of={TOLD} />
        <p>{t("keys.go")}</p>
        <Told of={PLACES.map(([, word, key]) => [`g ${key}`, word])} />
        <form method="dialog">
          <button>{t("close")}</button>
        </form>
      </dialog>
    </>
  );
}

function Told({ of }: { of: [string, Word][] }) {
  return (
    <dl class="facts">
      {of.map(([key, word]) => (
        <div key={key}>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{t(word)}</dd>
        </div>
      ))}
    </dl>
  );
}
