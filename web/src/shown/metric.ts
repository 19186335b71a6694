// Metrics as they are shown. metrics.json is the closed list of service/domain/metric.py; a test
// holds the two together.

import { member, type Word, t } from "../words";
import { value } from "./number";
import metrics from "./metrics.json";

export interface Metric {
  unit: string;
  better: "lower" | "higher";
  judged: boolean;
}

const LIST = metrics as Record<string, Metric>;
export const METRIC_NAMES = Object.keys(LIST);
export const JUDGED = METRIC_NAMES.filter((name) => LIST[name]?.judged);

export function unitOf(name: string): string {
  return LIST[name]?.unit ?? "";
}

/** Return what a metric is called: TTFT p50, or the catalogue's word. */
export function metricName(name: string): string {
  const latency = /^(ttft|tpot|itl|e2e)_(\w+)$/.exec(name);
  if (!latency) return member("metric", name);
  const statistic = latency[2] === "mean" ? t("metric.mean") : latency[2];
  return `${(latency[1] ?? "").toUpperCase()} ${statistic}`;
}

export function measured(name: string, base: number | null | undefined): string {
  return value(unitOf(name), base);
}

/** Return whether lower or higher is better, in words. */
export function direction(better: "lower" | "higher"): string {
  return t(`better.${better}` as Word);
}
