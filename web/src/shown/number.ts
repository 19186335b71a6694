// Numbers for the eye: base units are scaled here and nowhere below, with as many digits as hold.

import { locale } from "../words";

const formats = new Map<string, Intl.NumberFormat>();

function format(options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = locale() + JSON.stringify(options);
  const known = formats.get(key);
  if (known) return known;
  const made = new Intl.NumberFormat(locale(), options);
  formats.set(key, made);
  return made;
}

export interface Scale {
  factor: number;
  unit: string;
}

/** Return how a base unit is shown where values are about so large. */
export function scaleOf(unit: string, about: number): Scale {
  const size = Math.abs(about);
  if (unit === "s") {
    if (size < 1e-3) return { factor: 1e6, unit: "µs" };
    return size < 1 ? { factor: 1e3, unit: "ms" } : { factor: 1, unit: "s" };
  }
  if (unit === "B") {
    if (size >= 2 ** 30) return { factor: 2 ** -30, unit: "GiB" };
    return size >= 2 ** 20 ? { factor: 2 ** -20, unit: "MiB" } : { factor: 2 ** -10, unit: "KiB" };
  }
  if (unit === "Hz") return size >= 1e9 ? { factor: 1e-9, unit: "GHz" } : { factor: 1e-6, unit: "MHz" };
  if (unit === "share") return { factor: 100, unit: "%" };
  if (unit === "ratio") return { factor: 1, unit: "" };
  return { factor: 1, unit };
}

/** Return a value of a base unit with its unit: so many digits, or all of a larger integer's. */
export function value(unit: string, base: number | null | undefined, digits = 4): string {
  if (base === null || base === undefined) return "–";
  if (base === 0) return unit === "ratio" ? "0" : `0 ${unit}`;
  const scale = scaleOf(unit, base);
  const shown = significant(base * scale.factor, digits);
  return scale.unit ? `${shown} ${scale.unit}` : shown;
}

/** Return values in the unit that suits one of them, and that unit, to be written once. */
export function together(unit: string, about: number, values: readonly number[]): { shown: string[]; unit: string } {
  const scale = scaleOf(unit, about);
  return { shown: values.map((each) => significant(each * scale.factor)), unit: scale.unit };
}

export function significant(number: number, digits = 4): string {
  const whole = Math.abs(number) >= 10 ** digits;
  return format(
    whole ? { maximumFractionDigits: 0 } : { minimumSignificantDigits: digits, maximumSignificantDigits: digits },
  ).format(number);
}

/** Return a number on an axis: no more digits than it has. */
export function tickLabel(number: number): string {
  return format({ maximumSignificantDigits: 5 }).format(number);
}

export function count(number: number): string {
  return format({}).format(number);
}

/** Return how many decimals of a percentage its interval's width leaves worth reading. */
export function decimals(low: number | null, high: number | null): number {
  if (low === null || high === null) return 1;
  const half = (Math.abs(high - low) / 2) * 100;
  if (half >= 10) return 0;
  return half >= 0.2 ? 1 : 2;
}

/** Return a ratio as a signed percentage; the minus is a real one. */
export function percent(ratio: number, digits = 1, signed = true): string {
  return format({
    style: "percent",
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    signDisplay: signed ? "exceptZero" : "auto",
  })
    .format(ratio)
    .replace("-", "−");
}

/** Return a tolerance, in no more digits than it has. */
export function tolerance(ratio: number): string {
  return format({ style: "percent", maximumFractionDigits: 1 }).format(ratio);
}

export interface Estimated {
  worsening: number | null;
  low: number | null;
  high: number | null;
}

export function worsening(of: Estimated): string {
  return of.worsening === null ? "–" : percent(of.worsening, decimals(of.low, of.high));
}

export function interval(of: Estimated): string {
  if (of.low === null || of.high === null) return "";
  const digits = decimals(of.low, of.high);
  return `[${percent(of.low, digits)}, ${percent(of.high, digits)}]`;
}

export function bytes(size: number): string {
  return size < 1024 ? `${count(size)} B` : value("B", size, 3);
}
