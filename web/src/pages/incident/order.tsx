// Launches in the order measured: what was interleaved can be seen to have been.

import { type Line, Lines } from "../../parts/lines";
import { measured, metricName, unitOf } from "../../shown/metric";
import { count } from "../../shown/number";
import { t } from "../../words";
import type { Shot } from "./evidence";

export function Order({ shots, metric }: { shots: readonly Shot[]; metric: string }) {
  const values = shots.map((each) => each.value);
  const label = t("incident.spoken", { metric: metricName(metric), runs: count(shots.length), low: measured(metric, Math.min(...values)), high: measured(metric, Math.max(...values)) });
  return (
    <figure class="figure">
      <Lines
        marked whole lines={[lineOf(shots, metric, false), lineOf(shots, metric, true)]} height={200} label={label}
        xUnit="" yUnit={unitOf(metric)} xWord={t("incident.in_order")} yWord={metricName(metric)}
      />
      {shots.some((each) => !each.counts) && <p class="legend muted">{t("incident.aside")}</p>}
    </figure>
  );
}

function lineOf(shots: readonly Shot[], metric: string, isCandidate: boolean): Line {
  const dots = shots
    .filter((each) => each.isCandidate === isCandidate)
    .map((each) => ({ x: each.place, y: each.value, aside: !each.counts, title: `${each.place}: ${measured(metric, each.value)}` }));
  return { name: t(isCandidate ? "field.candidate" : "field.control"), tone: isCandidate ? 1 : 0, dots };
}
