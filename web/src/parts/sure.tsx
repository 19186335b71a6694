// A button that asks once more before it does what cannot be taken back.

import { useId, useRef } from "preact/hooks";
import { t } from "../words";

interface Wanted {
  word: string;
  /** What it is called where several of its like stand in a table. */
  label?: string;
  question: string;
  what: string;
  busy: boolean;
  act: () => void;
}

export function Sure({ word, label, question, what, busy, act }: Wanted) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  return (
    <>
      <button type="button" class="slim" disabled={busy} aria-label={label} onClick={() => dialog.current?.showModal()}>
        {word}
      </button>
      <dialog ref={dialog} aria-labelledby={id}>
        <h2 id={id}>{question}</h2>
        <p class="wrap">{what}</p>
        <form method="dialog" class="acts">
          <button>{t("close")}</button>
          <button class="danger" onClick={act}>
            {word}
          </button>
        </form>
      </dialog>
    </>
  );
}
