// The words of the interface, in the reader's language. en.json and zh.json hold the same keys.

import { kept, remember } from "../parts/store";
import type english from "./en.json";

export type Language = "en" | "zh";
export type Word = keyof typeof english;
type Words = Record<Word, string>;

const STORED = "kunline.language";
const CATALOGUES: Record<Language, () => Promise<{ default: Words }>> = {
  en: () => import("./en.json"),
  zh: () => import("./zh.json"),
};

let words: Words = {} as Words;
export const language = kept<Language>(document.documentElement.lang.startsWith("zh") ? "zh" : "en");

export async function speak(wanted: Language): Promise<void> {
  words = (await CATALOGUES[wanted]()).default;
  document.documentElement.lang = locale(wanted);
  language.set(wanted);
}

export async function choose(wanted: Language): Promise<void> {
  await speak(wanted);
  remember(STORED, wanted);
}

export function locale(of: Language = language.get()): string {
  return of === "zh" ? "zh-CN" : "en";
}

/** Return a word, with {names} filled in; {name|one|many} is one of two words, by the number. */
export function t(word: Word, filled: Record<string, string | number> = {}): string {
  return (words[word] ?? word).replace(/\{(\w+)(?:\|(\w*)\|(\w*))?\}/g, (whole, name: string, one?: string, many?: string) => {
    if (one === undefined) return String(filled[name] ?? whole);
    return (String(filled[name]) === "1" ? one : many) ?? "";
  });
}

/** Return the word of a closed list's member, or the member itself where a newer service has more. */
export function member(list: string, name: string): string {
  const key = `${list}.${name}` as Word;
  return words[key] ?? name;
}
