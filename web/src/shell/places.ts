// Where one may go: each page's address, its name, and the letter that leads there after g.

import type { Word } from "../words";

export const PLACES: [string, Word, string][] = [
  ["/", "nav.overview", "o"],
  ["/incidents", "nav.incidents", "i"],
  ["/events", "nav.events", "e"],
  ["/matrix", "nav.matrix", "m"],
  ["/series", "nav.series", "s"],
  ["/compare", "nav.compare", "c"],
  ["/gates", "nav.gates", "t"],
  ["/compat", "nav.compat", "v"],
  ["/upgrade", "nav.upgrade", "u"],
  ["/runs", "nav.runs", "r"],
  ["/queue", "nav.queue", "q"],
  ["/hosts", "nav.hosts", "h"],
  ["/baselines", "nav.baselines", "b"],
  ["/settings", "nav.settings", "x"],
];
