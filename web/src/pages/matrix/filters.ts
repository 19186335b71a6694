// What rows of the matrix are filtered by, all in the browser: a choice is answered at once.

import type { Schemas } from "../../api/client";
import type { Word } from "../../words";

type Row = Schemas["MatrixRow"];

export interface Filter {
  name: string;
  word: Word;
  of: (row: Row) => string;
}

export const FILTERS: Filter[] = [
  { name: "model", word: "field.model", of: (row) => row.fields.model },
  { name: "card", word: "field.cards", of: (row) => `${row.fields.card_model} × ${row.fields.cards}` },
  { name: "tp", word: "field.tp", of: (row) => String(row.fields.tp) },
  { name: "lengths", word: "field.lengths", of: (row) => `${row.fields.input_tokens} → ${row.fields.output_tokens}` },
  {
    name: "load",
    word: "field.load",
    of: ({ fields }) => (fields.concurrency === null ? `${fields.rate} req/s` : String(fields.concurrency)),
  },
];

export function filterValues(rows: Row[], filter: Filter): string[] {
  return [...new Set(rows.map(filter.of))].sort((a, b) => a.localeCompare(b, undefined, { numeric: true }));
}

/** Return rows as a person would list them: by model, cards, lengths, then load. */
export function listed(rows: readonly Row[]): Row[] {
  return [...rows].sort(({ fields: a }, { fields: b }) => {
    const order = a.model.localeCompare(b.model, undefined, { numeric: true });
    const numbers = [a.cards - b.cards, a.tp - b.tp, a.input_tokens - b.input_tokens, a.output_tokens - b.output_tokens];
    const load = (a.concurrency ?? 0) - (b.concurrency ?? 0) || (a.rate ?? 0) - (b.rate ?? 0);
    return order || numbers.find((difference) => difference !== 0) || load;
  });
}

/** Return the outcomes of a row's squares: of the metric that is shown, or of all where many are. */
export function outcomesOf(row: Row, byStack: boolean): string[] {
  return row.squares.map((square) => (byStack ? (square.verdicts[0]?.outcome ?? square.outcome) : square.outcome));
}

/** Return the rows that the address asks for. */
export function kept(rows: Row[], query: URLSearchParams, byStack: boolean): Row[] {
  const words = (query.get("words") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const outcome = query.get("outcome");
  const asked = FILTERS.filter((filter) => query.get(filter.name));
  return rows.filter(
    (row) =>
      words.every((word) => row.title.toLowerCase().includes(word)) &&
      asked.every((filter) => filter.of(row) === query.get(filter.name)) &&
      (!outcome || outcomesOf(row, byStack).includes(outcome)),
  );
}
