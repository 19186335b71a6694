import { readdirSync, readFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";
import en from "./src/words/en.json" with { type: "json" };
import zh from "./src/words/zh.json" with { type: "json" };

const NAMES = "virtual:word-names";
// A word that is named where it is said, and a list of which any member may be said.
const SAID = /\bt\(\s*"([^"]+)"/g;
const LISTS = /\bmember\(\s*"([^"]+)"|`([\w.]+)\.\$\{/g;

/** Return every word: first those that are looked up by name, then those of which a place is enough. */
function ordered(): { all: string[]; named: number } {
  const sources = readdirSync("src", { recursive: true }).filter((path) => /\.tsx?$/.test(path));
  const source = sources.map((path) => readFileSync(`src/${path}`, "utf8")).join("\n");
  const said = new Set([...source.matchAll(SAID)].map(([, word]) => word));
  const others = source.replace(SAID, "");
  const lists = [...source.matchAll(LISTS)].map(([, list, before]) => `${list ?? before}.`);
  const byPlace = (word: string) => said.has(word) && !others.includes(`"${word}"`) && !lists.some((list) => word.startsWith(list));
  const named = Object.keys(en).filter((word) => !byPlace(word));
  return { all: [...named, ...Object.keys(en).filter(byPlace)], named: named.length };
}

/** What a word is called is not built where it is said, and the other names once and not once a language. */
function words(): Plugin {
  const texts: Record<string, Record<string, string>> = { en, zh };
  const { all, named } = ordered();
  return {
    name: "words",
    enforce: "pre",
    resolveId: (id) => (id === NAMES ? `\0${NAMES}` : null),
    load(id) {
      if (id === `\0${NAMES}`) return `export default ${JSON.stringify(all.slice(0, named).join("\n"))}.split("\\n");`;
      const language = /\/words\/(en|zh)\.json$/.exec(id)?.[1];
      if (!language) return null;
      const values = all.map((word) => texts[language]?.[word]);
      return {
        code: `import names from "${NAMES}"; const words = ${JSON.stringify(values)}; names.forEach((name, place) => (words[name] = words[place])); export default words;`,
        moduleType: "js",
      };
    },
    transform(code, id) {
      if (!/\/src\/.*\.tsx?$/.test(id)) return null;
      return { code: code.replace(SAID, (whole, word: string) => (all.indexOf(word) < named ? whole : `t(${all.indexOf(word)}`)), map: null };
    },
  };
}

export default defineConfig({
  plugins: [words()],
  build: {
    outDir: "dist",
    emptyOutDir: true,
    // Tells ./dev what the first page waits for.
    manifest: true,
    target: "es2022", // top-level await
    // The policy of the served pages lets in no data: addresses and no inline script.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { proxy: { "/api": "http://127.0.0.1:8000" } },
});
