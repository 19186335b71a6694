// Launches as marks in the order measured: what was interleaved can be seen to have been.

import { measured, metricName } from "../../shown/metric";
import { count } from "../../shown/number";
import { t } from "../../words";
import type { Shot } from "./evidence";

const [WIDTH, HEIGHT, EDGE] = [480, 130, 14];

export function Strip({ shots, metric }: { shots: readonly Shot[]; metric: string }) {
  const values = shots.map((each) => each.value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = (place: number) => EDGE + ((place - 0.5) / shots.length) * (WIDTH - 2 * EDGE);
  const y = (value: number) => HEIGHT - EDGE - ((value - low) / (high - low || 1)) * (HEIGHT - 2 * EDGE);
  return (
    <figure class="figure">
      <svg class="strip" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={spoken(shots, metric, low, high)}>
        {shots.map((each) => {
          const [left, top] = [x(each.place), y(each.value)];
          const kind = `${each.isCandidate ? "candidate" : "control"} ${each.counts ? "" : "aside"}`;
          return each.isCandidate ? (
            <rect key={each.run.id} class={kind} x={left - 5} y={top - 5} width={10} height={10} />
          ) : (
            <circle key={each.run.id} class={kind} cx={left} cy={top} r={5.5} />
          );
        })}
      </svg>
      <p class="legend muted">
        <span class="nowrap"><span aria-hidden="true" class="host-0">●</span> {t("field.control")}</span>
        <span class="nowrap"><span aria-hidden="true" class="host-1">■</span> {t("field.candidate")}</span>
        <span>{t("incident.strip", { low: measured(metric, low), high: measured(metric, high) })}</span>
      </p>
    </figure>
  );
}

function spoken(shots: readonly Shot[], metric: string, low: number, high: number): string {
  return t("incident.spoken", { metric: metricName(metric), runs: count(shots.length), low: measured(metric, low), high: measured(metric, high) });
}
