// Times in the reader's zone: how long ago, and exactly when.

import { kept, remember, remembered } from "../parts/store";
import { locale } from "../words";

// One clock for the page, so that all relative times move together, once a half minute.
export const clock = kept(Date.now());
setInterval(() => clock.set(Date.now()), 30_000);

export type Times = "ago" | "exact";

const STORED = "kunline.times";
/** What stands where there is room for one of the two. */
export const times = kept<Times>(remembered(STORED) === "exact" ? "exact" : "ago");

export function setTimes(wanted: Times): void {
  remember(STORED, wanted);
  times.set(wanted);
}

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

export function ago(time: string, now = clock.get()): string {
  const seconds = (Date.parse(time) - now) / 1000;
  const [unit, length] = STEPS.find(([, size]) => Math.abs(seconds) >= size) ?? (["second", Infinity] as const);
  const told = new Intl.RelativeTimeFormat(locale(), { numeric: "auto" }).format(Math.round(seconds / length), unit);
  // As everywhere else, a space stands between a figure and a Chinese character.
  return told.replace(/\d(?=\p{sc=Han})/u, "$& ");
}

// Years first in both languages, as stacks' dates have them: no reader takes a day for a month.
function written(time: string, timeStyle: "short" | "medium"): string {
  return new Intl.DateTimeFormat("sv", { dateStyle: "short", timeStyle }).format(Date.parse(time));
}

export function exactly(time: string): string {
  return written(time, "medium");
}

export function shortly(time: string): string {
  return written(time, "short");
}

/** A moment, as long ago and exactly. brief: the one that the reader chose, the other in the title. */
export function Moment({ at, brief = false }: { at: string | null | undefined; brief?: boolean }) {
  const now = clock.use();
  const exact = times.use() === "exact";
  if (!at) return <span class="muted">–</span>;
  return (
    <time dateTime={at} title={exact ? ago(at, now) : exactly(at)} class="moment">
      <span class="nowrap">{exact ? shortly(at) : ago(at, now)}</span>
      {!brief && (
        <span class="muted nowrap">
          <span class="between"> · </span>
          {exact ? ago(at, now) : shortly(at)}
        </span>
      )}
    </time>
  );
}

/** Return how long something took, in the largest unit that it fills. */
export function span(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return "–";
  const [unit, length] = STEPS.find(([, size]) => seconds >= size) ?? (["second", 1] as const);
  return new Intl.NumberFormat(locale(), { style: "unit", unit, unitDisplay: "long", maximumFractionDigits: 1 }).format(seconds / length);
}
