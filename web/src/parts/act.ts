// Something that a reader does: sent once at a time, and told how it went.

import { useState } from "preact/hooks";
import type { ApiError } from "../api/client";
import { known } from "../api/use";

export interface Acting<Value> {
  /** Send, unless something is under way. */
  act: (send: () => Promise<Value>) => void;
  busy: boolean;
  problem: ApiError | undefined;
}

export function useAct<Value>(done: (value: Value) => void): Acting<Value> {
  const [problem, setProblem] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const act = (send: () => Promise<Value>) => {
    if (busy) return;
    setBusy(true);
    setProblem(undefined);
    send()
      .then(done)
      .catch((error: unknown) => setProblem(known(error)))
      .finally(() => setBusy(false));
  };
  return { act, busy, problem };
}

/** Return what stands in a form's fields; an empty field is null. */
export function fieldsOf(form: EventTarget | null): Record<string, string | null> {
  const pairs = [...new FormData(form as HTMLFormElement)];
  return Object.fromEntries(pairs.map(([name, value]) => [name, String(value).trim() || null]));
}
