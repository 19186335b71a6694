// Files made in the browser, and files of the API that may need a token.

import { send } from "../api/client";

function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export function saveText(text: string, name: string, type: string): void {
  save(new Blob([text], { type }), name);
}

/** Fetch bytes with this tab's token, which a plain link would not send, and save them. */
export async function saveFrom(url: string, name: string): Promise<void> {
  save(await (await send(url)).blob(), name);
}

// A spreadsheet runs what begins like this as a formula.
const FORMULA = /^[=+\-@\t\r]/;

/** Return a table as CSV; text that a spreadsheet would run gets an apostrophe before it. */
export function csv(rows: unknown[][]): string {
  return rows.map((row) => row.map(quoted).join(",")).join("\r\n") + "\r\n";
}

function quoted(value: unknown): string {
  if (value === null || value === undefined) return "";
  let text = String(value);
  if (typeof value === "string" && FORMULA.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
