// What stands where an answer is not there: a skeleton, a problem that keeps the page, an advice.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ApiError } from "../api/client";
import type { Asked } from "../api/use";
import { t } from "../words";

// Nobody needs to be told of a wait that is shorter.
const SLOW_MS = 3000;

interface Wanted<Value> {
  of: Asked<Value>;
  /** How many lines high the skeleton is: as high as what will come, so that nothing moves. */
  lines?: number;
  children: (value: Value) => ComponentChildren;
}

/** Show an answer; until the first is there its skeleton, and between two the one before, as it was. */
export function Shown<Value>({ of, lines = 8, children }: Wanted<Value>) {
  const last = useRef<{ drawn: ComponentChildren } | undefined>(undefined);
  const stale = of.value === undefined;
  if (of.value !== undefined) last.current = { drawn: children(of.value) };
  const busy = of.loading || (stale && !of.problem);
  return (
    <>
      {of.problem && <Problem error={of.problem} again={of.again} kept={last.current !== undefined} />}
      {last.current ? (
        <div class={`${busy ? "refreshing" : ""} ${stale ? "stale" : ""}`} aria-busy={busy}>
          {last.current.drawn}
        </div>
      ) : (
        !of.problem && <Skeleton lines={lines} />
      )}
    </>
  );
}

export function Skeleton({ lines }: { lines: number }) {
  const [slow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), SLOW_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="skeleton" aria-busy="true">
      <p class={slow ? "slow" : "unseen"} role="status">
        {slow ? t("asked.slow") : t("asked.loading")}
      </p>
      {Array.from({ length: lines }, (_, line) => (
        <div key={line} class="bone" aria-hidden="true" />
      ))}
    </div>
  );
}

export function wordsOf(error: ApiError): string {
  if (error.status === 401) return t("problem.unauthorised");
  if (error.status === 403) return t("problem.forbidden", { words: error.message });
  if (error.kind === "TimeoutError") return t("problem.timeout");
  if (error.status === 0) return t("problem.unreachable");
  return error.message || t("problem.status", { status: error.status });
}

/** kept: what was there before is still shown, and nothing of it is moved. */
export function Problem({ error, again, kept = false }: { error: ApiError; again?: () => void; kept?: boolean }) {
  return (
    <div class={kept ? "problem kept" : "problem"} role="alert">
      <p>
        <strong>{t("problem.title")}</strong> {wordsOf(error)}
        {error.status > 0 && <span class="muted"> ({error.status})</span>} {kept && t("problem.kept")}
      </p>
      {again && (
        <button type="button" onClick={again}>
          {t("problem.again")}
        </button>
      )}
    </div>
  );
}

/** What an empty place says: why it is empty, and the command that fills it. */
export function Empty({ children, command }: { children: ComponentChildren; command?: string }) {
  return (
    <div class="empty">
      <p>{children}</p>
      {command && (
        <pre>
          <code>{command}</code>
        </pre>
      )}
    </div>
  );
}
