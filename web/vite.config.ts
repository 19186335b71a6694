import { defineConfig, type Plugin } from "vite";
import en from "./src/words/en.json" with { type: "json" };
import zh from "./src/words/zh.json" with { type: "json" };

const KEYS = "virtual:word-keys";

/** The keys of the words are built once and not once a language: both catalogues have the same. */
function words(): Plugin {
  const all: Record<string, Record<string, string>> = { en, zh };
  return {
    name: "words",
    enforce: "pre",
    resolveId: (id) => (id === KEYS ? `\0${KEYS}` : null),
    load(id) {
      if (id === `\0${KEYS}`) return `export default ${JSON.stringify(Object.keys(en).join("\n"))}.split("\\n");`;
      const language = /\/words\/(en|zh)\.json$/.exec(id)?.[1];
      if (!language) return null;
      const values = Object.keys(en).map((key) => all[language]?.[key]);
      return {
        code: `import keys from "${KEYS}"; const words = ${JSON.stringify(values)}; export default Object.fromEntries(keys.map((key, place) => [key, words[place]]));`,
        moduleType: "js",
      };
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
