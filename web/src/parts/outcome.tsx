// Outcomes and states: a word, a sign and a colour, never the colour alone.

import { member } from "../words";
import { type Estimated, interval, worsening } from "../shown/number";

const SIGNS: Record<string, string> = {
  regressed: "▲",
  broken: "✕",
  invalid: "⊘",
  missing: "○",
  "not comparable": "≠",
  inconclusive: "?",
  "insufficient baseline": "…",
  improved: "▼",
  unchanged: "=",
};

/** Return outcomes with their numbers, in the order of precedence: the worst first. */
export function inPrecedence(of: Record<string, number | undefined>): [string, number][] {
  const order = Object.keys(SIGNS);
  const place = (outcome: string) => (order.includes(outcome) ? order.indexOf(outcome) : order.length);
  return Object.entries(of)
    .map(([outcome, number]): [string, number] => [outcome, number ?? 0])
    .sort(([a], [b]) => place(a) - place(b));
}

const TONES: Record<string, string> = {
  regressed: "worse",
  improved: "better",
  unchanged: "calm",
  measured: "calm",
  inconclusive: "unsure",
  "insufficient baseline": "unsure",
  incomplete: "unsure",
  finished: "calm",
  reported: "calm",
  works: "calm",
  active: "calm",
  running: "better",
  claimed: "better",
  queued: "unsure",
  paused: "unsure",
  draining: "unsure",
  skipped: "unsure",
  unknown: "unsure",
  warning: "unsure",
  cancelled: "unsure",
};

export function toneOf(name: string): string {
  return TONES[name] ?? "bad";
}

export function Outcome({ of }: { of: string }) {
  return (
    <span class={`tag ${toneOf(of)}`}>
      <span aria-hidden="true">{SIGNS[of] ?? ""} </span>
      {member("outcome", of)}
    </span>
  );
}

/** A change's direction: a sign and a word. */
export function Direction({ of }: { of: "worse" | "better" }) {
  return (
    <span class={`tag ${of}`}>
      <span aria-hidden="true">{of === "worse" ? "▲" : "▼"} </span>
      {member("direction", of)}
    </span>
  );
}

export function State({ of }: { of: string }) {
  return <span class={`tag ${toneOf(of)}`}>{member("state", of)}</span>;
}

/** A worsening with its interval. tone: of its outcome, where that is not said beside it. */
export function Worsening({ of, tone }: { of: Estimated; tone?: string }) {
  return (
    <span class="worsening">
      <span class={`nowrap ink-${tone}`}>{worsening(of)}</span> <span class="muted nowrap">{interval(of)}</span>
    </span>
  );
}

// So many tolerances fill a square's colour.
const FULL = 2.5;
// What the rule does not call a change is coloured faintly, so that colour and word agree.
const FAINT: Record<string, number> = { unchanged: 0.25, inconclusive: 0.45 };

/** Return how strongly a square is coloured, 0 to 1. */
export function heatOf(of: Estimated & { tolerance: number; outcome: string }): number {
  if (of.worsening === null) return 0;
  return Math.min(1, 0.2 + Math.abs(of.worsening) / of.tolerance / FULL) * (FAINT[of.outcome] ?? 1);
}
