// What a page asks of the API: asked once however often it is drawn, kept while it is asked anew.

import { useEffect, useState } from "preact/hooks";
import { type Answer, ApiError, type InPath, type Query, type ReadPath, send, token, urlOf } from "./client";
import { waitedFor } from "./waited";

export interface Asked<Value> {
  value: Value | undefined;
  problem: ApiError | undefined;
  loading: boolean;
  again: () => void;
}

// Answers of this visit: going back shows at once what was there, and asks anew behind it.
const answers = new Map<string, unknown>();
const ANSWERS_MAX = 60;
const underway = new Map<string, Promise<unknown>>();

function ask(url: string): Promise<unknown> {
  const same = underway.get(url);
  if (same) return same;
  const asked = send(url)
    .then((response) => response.json())
    .then((value: unknown) => {
      answers.delete(url);
      answers.set(url, value);
      for (const oldest of answers.keys()) {
        if (answers.size <= ANSWERS_MAX) break;
        answers.delete(oldest);
      }
      return value;
    })
    .finally(() => underway.delete(url));
  underway.set(url, asked);
  return answers.has(url) ? asked : waitedFor(asked);
}

interface Told {
  url: string | null;
  value: unknown;
  problem: ApiError | undefined;
  loading: boolean;
}

/** Ask for a path. inPath null: not yet known what to ask for, so nothing is asked. */
export function useAnswer<Path extends ReadPath>(
  path: Path,
  inPath: InPath | null = {},
  query: Partial<Query<Path>> | object = {},
): Asked<Answer<Path>> {
  const url = inPath && urlOf(path, inPath, query);
  const secret = token.use();
  const [turn, setTurn] = useState(0);
  const [told, setTold] = useState<Told>(() => begun(url));
  useEffect(() => {
    if (!url) {
      setTold(begun(url));
      return;
    }
    let listening = true;
    setTold((before) => ({
      url,
      value: answers.get(url) ?? (before.url === url ? before.value : undefined),
      problem: before.url === url ? before.problem : undefined,
      loading: true,
    }));
    ask(url).then(
      (value) => listening && setTold({ url, value, problem: undefined, loading: false }),
      (error: unknown) => listening && setTold((before) => ({ ...before, problem: known(error), loading: false })),
    );
    return () => {
      listening = false;
    };
  }, [url, secret, turn]);
  const shown = told.url === url ? told : begun(url);
  return {
    value: shown.value as Answer<Path> | undefined,
    problem: shown.problem,
    loading: shown.loading,
    again: () => setTurn((before) => before + 1),
  };
}

function begun(url: string | null): Told {
  return { url, value: url ? answers.get(url) : undefined, problem: undefined, loading: url !== null };
}

export function known(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError(0, "", String(error));
}
