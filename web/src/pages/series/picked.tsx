// The runs that are picked to be compared, two at most; the address holds them.

import { address, changedAddress, go } from "../../route";
import { t } from "../../words";

export function pickedOf(text: string): string[] {
  return text.split(",").filter(Boolean);
}

/** Pick one more run, or leave it again; never are there more than the newest two. */
export function pick(text: string, run: string): void {
  const picked = pickedOf(text);
  const next = picked.includes(run) ? picked.filter((each) => each !== run) : [...picked, run].slice(-2);
  go(changedAddress({ pick: next.join(",") || null }), { replace: true });
}

export function PickedRuns({ picked }: { picked: string }) {
  const [baseline, candidate] = pickedOf(picked);
  return (
    <p class="picked" role="status">
      {candidate && baseline ? (
        <a class="button" href={address("/compare", { baseline, candidate })}>
          {t("series.compare")}
        </a>
      ) : (
        <span class="muted">{t(baseline ? "series.pick_other" : "series.pick")}</span>
      )}
    </p>
  );
}
