// Dark or light: the system's choice, until the reader makes another. public/theme.js reads it first.

import { kept, remember } from "../parts/store";

export type Theme = "system" | "light" | "dark";

const STORED = "kunline.theme";
const dark = matchMedia("(prefers-color-scheme: dark)");

export const theme = kept<Theme>((document.documentElement.dataset.theme as Theme | undefined) ?? "system");
/** Counts changes of the colours in force: charts draw themselves anew with each. */
export const colours = kept(0);

dark.addEventListener("change", () => colours.set(colours.get() + 1));

export function setTheme(wanted: Theme): void {
  if (wanted === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = wanted;
  remember(STORED, wanted === "system" ? null : wanted);
  theme.set(wanted);
  colours.set(colours.get() + 1);
}

export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
