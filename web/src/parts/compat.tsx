// A state of the compatibility table: a sign, a word and a colour.

import { member } from "../words";

const SIGNS: Record<string, string> = { works: "✓", "works, regressed": "▲", broken: "✕", untested: "○" };
const TONES: Record<string, string> = { works: "calm", "works, regressed": "worse", broken: "bad", untested: "unsure" };

/** word: what is said instead of the state's own word. */
export function Compat({ of, word, more = "" }: { of: string; word?: string | undefined; more?: string }) {
  return (
    <span class={`tag ${TONES[of] ?? "bad"}`}>
      <span aria-hidden="true">{SIGNS[of] ?? ""} </span>
      {word ?? member("compat", of)} {more}
    </span>
  );
}
