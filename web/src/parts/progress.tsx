// How far a session is.

import type { Schemas } from "../api/client";
import { percent } from "../shown/number";
import { member, t } from "../words";

type Session = Schemas["SessionRead"];
type Told = NonNullable<Session["jobs"][number]["progress"]>;

// As runners/run_job.py tells it; whatever else it says is shown as it is.
const CELL = /^cell (\d+) of (\d+)(?:, repeat (\d+))?$/;

/** Return what a runner is at, in the reader's language where its words are known. */
export function workOf({ phase, text }: Told): string {
  const [, cell, cells = "", repeat] = CELL.exec(text ?? "") ?? [];
  if (!cell) return `${member("phase", phase)} ${text ?? ""}`;
  return t("phase.cell", { phase: member("phase", phase), cell, cells }) + (repeat ? t("phase.repeat", { repeat }) : "");
}

const ENDED = new Set(["reported", "given up", "cancelled"]);

export interface Progress {
  ended: number;
  jobs: number;
  fraction: number;
  now: string;
}

export function progressOf(session: Session): Progress {
  const ended = session.jobs.filter((job) => ENDED.has(job.state)).length;
  const running = session.jobs.find((job) => job.state === "claimed");
  const part = running ? (running.progress?.fraction ?? running.cells_reported / running.cells) : 0;
  const now = running?.progress ? `${running.stack_name} · ${workOf(running.progress)}` : "";
  return { ended, jobs: session.jobs.length, fraction: (ended + part) / Math.max(1, session.jobs.length), now };
}

export function Bar({ fraction, label }: { fraction: number; label: string }) {
  return (
    <div class="bar">
      <progress max={1} value={fraction} aria-label={label} />
      <span class="number">{percent(fraction, 0, false)}</span>
    </div>
  );
}
