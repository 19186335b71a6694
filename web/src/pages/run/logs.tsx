// The texts kept with a run: a page of lines at a time, searched by the service, saved whole.

import { useEffect, useState } from "preact/hooks";
import type { Schemas } from "../../api/client";
import { useAnswer } from "../../api/use";
import { saveFrom } from "../../parts/download";
import { Shown } from "../../parts/asked";
import { Choice } from "../../parts/fields";
import { changedAddress, go, usePlace } from "../../route";
import { bytes, count } from "../../shown/number";
import { t } from "../../words";

type Artefact = Schemas["ArtefactRead"];

const PAGE = 200;
// So long after the last key a search is asked for.
const PAUSE_MS = 300;

export function Logs({ of }: { of: readonly Artefact[] }) {
  const { query } = usePlace();
  const chosen = of.find((artefact) => artefact.digest.startsWith(query.get("log") ?? " ")) ?? of[0];
  const [failed, setFailed] = useState(false);
  if (!chosen) return <p class="muted">{t("run.no_logs")}</p>;
  const save = () => {
    setFailed(false);
    saveFrom(`/api/v1/artefacts/${chosen.digest}`, chosen.name).catch(() => setFailed(true));
  };
  return (
    <>
      <div class="filters">
        <Choice
          label={t("run.text")}
          value={chosen.digest}
          options={of.map((artefact) => [artefact.digest, `${artefact.name} · ${bytes(artefact.size_bytes)}`])}
          onChange={(digest) => go(changedAddress({ log: digest.slice(0, 12), line: null, find: null }))}
        />
        <Find />
        <button type="button" onClick={save}>
          {t("run.download")}
        </button>
      </div>
      {failed && <p role="alert">{t("run.download_failed")}</p>}
      <Lines digest={chosen.digest} />
    </>
  );
}

function Find() {
  const { query } = usePlace();
  const [words, setWords] = useState(query.get("find") ?? "");
  useEffect(() => {
    const timer = setTimeout(() => {
      if (words !== (query.get("find") ?? "")) go(changedAddress({ find: words || null, line: null }), { replace: true });
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [words]);
  return (
    <label class="choice grow">
      <span>{t("run.find")}</span>
      <input type="search" value={words} onInput={(event) => setWords(event.currentTarget.value)} />
    </label>
  );
}

function Lines({ digest }: { digest: string }) {
  const { query } = usePlace();
  const begin = Number(query.get("line") ?? "1");
  const find = query.get("find");
  const asked = useAnswer("/api/v1/artefacts/{digest}/lines", { digest }, { begin, limit: PAGE, search: find });
  return (
    <Shown of={asked} lines={10}>
      {(page) => (
        <>
          <p class="muted" role="status">
            {find ? t("run.matches", { matches: count(page.matches), lines: count(page.lines_total) }) : t("run.lines", { lines: count(page.lines_total) })}
          </p>
          <div class="log" tabIndex={0} role="region" aria-label={t("run.logs")}>
            <table>
              <tbody>
                {page.lines.map((line) => (
                  <tr key={line.number}>
                    <th scope="row">{line.number}</th>
                    <td>{line.text}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <p class="more">
            {begin > 1 && <a href={changedAddress({ line: null })}>{t("run.first_lines")}</a>}{" "}
            {page.cursor !== null && <a href={changedAddress({ line: String(page.cursor) })}>{t("run.next_lines")}</a>}
          </p>
        </>
      )}
    </Shown>
  );
}
