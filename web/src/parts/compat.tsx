// A state of the compatibility table: a sign, a word and a colour.

import { member } from "../words";

const SIGNS: Record<string, string> = { works: "✓", "works, regressed": "▲", broken: "✕", untested: "○" };
const TONES: Record<string, string> = { works: "calm", "works, regressed": "worse", broken: "bad", untested: "unsure" };

export function Compat({ of, more = "" }: { of: string; more?: string }) {
  return (
    <span class={`tag ${TONES[of] ?? "bad"}`}>
      <span aria-hidden="true">{SIGNS[of] ?? ""} </span>
      {member("compat", of)}
      {more && ` ${more}`}
    </span>
  );
}
