// The cards beside the load: every sample of one repeat, all quantities on one time axis.

import { useEffect, useState } from "preact/hooks";
import { type ApiError, type Schemas, send } from "../../api/client";
import { known } from "../../api/use";
import { waitedFor } from "../../api/waited";
import { Shown } from "../../parts/asked";
import { Choice, More } from "../../parts/fields";
import { type Dot, type Line, Lines } from "../../parts/lines";
import { type Column, Table } from "../../parts/table";
import { changedAddress, go, usePlace } from "../../route";
import { bytes, value as shown } from "../../shown/number";
import { t, type Word } from "../../words";

type Artefact = Schemas["ArtefactRead"];

// Written by the runner; see runners/benchmarks/card_facts.py.
const NAME = /^(.*)\.cards\.csv$/;
const SHOWN: [string, string, Word][] = [
  ["memory_bytes", "B", "cards.memory"],
  ["busy", "share", "cards.busy"],
  ["temperature_c", "°C", "cards.temperature"],
  ["power_w", "W", "cards.power"],
  ["clock_hz", "Hz", "cards.clock"],
];
// As many points of a card are drawn; of more, the highest and the lowest of neighbours.
const DRAWN = 600;

export function Cards({ of }: { of: readonly Artefact[] }) {
  const { query } = usePlace();
  const tables = of.filter((artefact) => NAME.test(artefact.name));
  const chosen = tables.find((artefact) => artefact.digest.startsWith(query.get("cards") ?? " ")) ?? tables[0];
  if (!chosen) return <p class="muted">{t("cards.none")}</p>;
  return (
    <>
      {tables.length > 1 && (
        <div class="filters">
          <Choice
            label={t("field.repeat")} value={chosen.digest}
            options={tables.map((artefact) => [artefact.digest, `${NAME.exec(artefact.name)?.[1] ?? artefact.name} · ${bytes(artefact.size_bytes)}`])}
            onChange={(digest) => go(changedAddress({ cards: digest.slice(0, 12) }))}
          />
        </div>
      )}
      <Sampled digest={chosen.digest} />
    </>
  );
}

interface Fetched {
  digest: string;
  text?: string;
  problem?: ApiError;
}

function Sampled({ digest }: { digest: string }) {
  const [fetched, setFetched] = useState<Fetched>();
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    setFetched(undefined);
    waitedFor(send(`/api/v1/artefacts/${digest}`, { signal: stop.signal }).then((response) => response.text()))
      .then((text) => setFetched({ digest, text }), (error: unknown) => !stop.signal.aborted && setFetched({ digest, problem: known(error) }));
    return () => stop.abort();
  }, [digest, turn]);
  const told = fetched?.digest === digest ? fetched : undefined;
  return (
    <Shown of={{ value: told?.text, problem: told?.problem, loading: !told, again: () => setTurn(turn + 1) }} lines={12}>
      {(text) => <Drawn text={text} />}
    </Shown>
  );
}

function Drawn({ text }: { text: string }) {
  const rows = text.trimEnd().split("\n").map((line) => line.split(","));
  const names = rows.shift() ?? [];
  const drawn = SHOWN.map(([name, unit, word]) => ({ name, unit, word, lines: linesOf(rows, names.indexOf(name), names) })).filter(({ lines }) => lines.length > 0);
  return (
    <>
      <figure class="figure">
        {drawn.map(({ name, unit, word, lines }, place) => (
          <Lines
            key={name} lines={lines} height={150} xUnit="s" yUnit={unit} xWord={t("cards.seconds")} yWord={t(word)} legend={place === drawn.length - 1}
            label={t("cards.spoken", { what: t(word), cards: lines.length })}
          />
        ))}
      </figure>
      <More summary={t("cards.table")}>
        <Samples rows={rows} names={names} />
      </More>
    </>
  );
}

/** Every sample behind the charts. */
function Samples({ rows, names }: { rows: string[][]; names: string[] }) {
  const number = (row: string[], name: string) => {
    const told = row[names.indexOf(name)];
    return told ? Number(told) : null;
  };
  const columns: Column<string[]>[] = [
    { key: "seconds", title: t("cards.seconds"), value: (row) => number(row, "seconds"), heads: true, numeric: true, cell: (row) => shown("s", number(row, "seconds"), 3) },
    { key: "card", title: t("field.cards"), value: (row) => number(row, "card"), numeric: true },
    ...SHOWN.map(([name, unit, word]): Column<string[]> => ({ key: name, title: t(word), value: (row) => number(row, name), numeric: true, cell: (row) => shown(unit, number(row, name)) })),
  ];
  return <Table name="samples" caption={t("run.cards")} hideCaption rows={rows} columns={columns} keyOf={(row) => `${row[0]} ${row[1]}`} most={100} />;
}

/** Return one line a card; a card that tells nothing of a quantity has none. */
function linesOf(rows: string[][], column: number, names: string[]): Line[] {
  const [at, card] = [names.indexOf("seconds"), names.indexOf("card")];
  if (column < 0) return [];
  const cards = new Map<string, Dot[]>();
  for (const row of rows) {
    const told = row[column];
    if (!told) continue;
    const number = row[card] ?? "";
    const dots = cards.get(number) ?? [];
    dots.push({ x: Number(row[at]), y: Number(told) });
    cards.set(number, dots);
  }
  return [...cards].map(([number, dots]) => ({ name: t("cards.card", { number }), tone: Number(number) % 4, dots: thinned(dots) }));
}

function thinned(dots: Dot[]): Dot[] {
  const size = Math.ceil((2 * dots.length) / DRAWN);
  if (size <= 2) return dots;
  const kept: Dot[] = [];
  for (let place = 0; place < dots.length; place += size) {
    const near = dots.slice(place, place + size).sort((a, b) => a.y - b.y);
    kept.push(...[near[0], near.at(-1)].filter((dot) => dot !== undefined).sort((a, b) => a.x - b.x));
  }
  return kept;
}
