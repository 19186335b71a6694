// Search by name: stacks, hosts, cells and sessions that the service knows; runs by their id.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useAnswer } from "../api/use";
import { address, go } from "../route";
import { t } from "../words";

interface Hit {
  kind: string;
  name: string;
  to: string;
}

const HITS_MAX = 12;
const RUN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function Search() {
  const [open, setOpen] = useState(false);
  const dialog = useRef<HTMLDialogElement>(null);
  const show = () => setOpen(true);
  // Shown once its field is in it, which then has the focus before the next key.
  useLayoutEffect(() => {
    if (open) dialog.current?.showModal();
  }, [open]);
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const busy = event.target instanceof HTMLElement && event.target.closest("input, textarea, select, dialog[open]");
      if (event.key !== "/" || event.ctrlKey || event.metaKey || busy) return;
      event.preventDefault();
      show();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
  return (
    <>
      <button type="button" class="searchbutton" onClick={show}>
        <span>{t("search.title")}</span> <kbd>/</kbd>
      </button>
      <dialog ref={dialog} class="search" aria-label={t("search.title")} onClose={() => setOpen(false)}>
        {open && <Found close={() => dialog.current?.close()} />}
      </dialog>
    </>
  );
}

function Found({ close }: { close: () => void }) {
  const [words, setWords] = useState("");
  const [at, setAt] = useState(0);
  const known = useKnown();
  const hits = useMemo(() => found(known, words), [known, words]);
  const follow = (hit: Hit | undefined) => {
    if (!hit) return;
    close();
    go(hit.to);
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") setAt(Math.min(at + 1, hits.length - 1));
    else if (event.key === "ArrowUp") setAt(Math.max(at - 1, 0));
    else if (event.key === "Enter") follow(hits[at]);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <input
        type="text"
        inputMode="search"
        role="combobox"
        aria-expanded="true"
        aria-controls="hits"
        aria-activedescendant={hits[at] ? `hit-${at}` : undefined}
        aria-label={t("search.title")}
        placeholder={t("search.hint")}
        autoFocus
        value={words}
        onInput={(event) => {
          setWords(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={pressed}
      />
      <ul id="hits" role="listbox" aria-label={t("search.hits")}>
        {hits.map((hit, place) => (
          <li
            key={hit.to}
            id={`hit-${place}`}
            role="option"
            aria-selected={place === at}
            onClick={() => follow(hit)}
          >
            <span class="muted">{hit.kind}</span> {hit.name}
          </li>
        ))}
      </ul>
      {hits.length === 0 && <p class="muted">{t("search.none")}</p>}
    </>
  );
}

function useKnown(): Hit[] {
  const stacks = useAnswer("/api/v1/stacks", {}, { limit: 200 });
  const runners = useAnswer("/api/v1/runners");
  const sessions = useAnswer("/api/v1/sessions", {}, { limit: 20 });
  const baselines = useAnswer("/api/v1/baselines");
  return useMemo(() => {
    const hosts = new Set((runners.value ?? []).map((runner) => runner.host));
    const cells = new Map((baselines.value ?? []).map((pin) => [pin.condition_key + pin.protocol_key, pin]));
    return [
      ...(stacks.value ?? []).map((each) => ({
        kind: t("kind.stack"),
        name: `${each.stack.name} ${each.key.slice(0, 12)}`,
        to: address("/matrix", { stack: each.key }),
      })),
      ...[...hosts].map((host) => ({ kind: t("kind.host"), name: host, to: address("/runs", { host }) })),
      ...[...cells.values()].map((pin) => ({
        kind: t("kind.cell"),
        name: pin.title,
        to: address("/series", { condition: pin.condition_key, protocol: pin.protocol_key }),
      })),
      ...(sessions.value ?? []).map((session) => ({
        kind: t("kind.session"),
        name: `${session.plan} ${session.id.slice(0, 8)}`,
        to: `/queue/${session.id}`,
      })),
    ];
  }, [stacks.value, runners.value, sessions.value, baselines.value]);
}

function found(known: Hit[], words: string): Hit[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const run = words.trim().toLowerCase();
  const named = RUN.test(run) ? [{ kind: t("kind.run"), name: run, to: `/runs/${run}` }] : [];
  const hits = known.filter((hit) => {
    const text = `${hit.kind} ${hit.name}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
  return [...named, ...hits].slice(0, HITS_MAX);
}
