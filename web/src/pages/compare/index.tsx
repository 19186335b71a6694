// Compare two stacks, two runs, or all of a session: what differs, and what it did to the numbers.

import type { Schemas } from "../../api/client";
import { useAnswer } from "../../api/use";
import { Empty, Shown } from "../../parts/asked";
import { Choice, Facts, Heading, Section } from "../../parts/fields";
import { Outcome } from "../../parts/outcome";
import { Differences, StackDiff } from "../../parts/differences";
import { changedAddress, go, usePlace } from "../../route";
import { count } from "../../shown/number";
import { t } from "../../words";
import { Creep } from "./creep";
import { Throughput } from "./curves";
import { Messages } from "./messages";
import { Scaling } from "./scaling";
import { Judged, Refused } from "./verdicts";

type Cells = Schemas["CellComparison"][];

export default function ComparePage() {
  const { query } = usePlace();
  const session = query.get("session");
  if (session) return <OfSession id={session} />;
  return <OfTwo baseline={query.get("baseline")} candidate={query.get("candidate")} />;
}

function OfSession({ id }: { id: string }) {
  const asked = useAnswer("/api/v1/sessions/{session_id}/verdicts", { session_id: id });
  return (
    <>
      <Heading
        title={t("nav.compare")}
        sub={
          <>
            {t("compare.of_session")} <a href={`/queue/${id}`}>{id.slice(0, 8)}</a>
          </>
        }
      />
      <Shown of={asked} lines={16}>
        {(verdicts) => (
          <>
            {!verdicts.finished && <p class="notice">{t("compare.unfinished")}</p>}
            <Told outcome={verdicts.outcome} cells={verdicts.cells} />
            <Messages session={id} />
          </>
        )}
      </Shown>
    </>
  );
}

function OfTwo({ baseline, candidate }: { baseline: string | null; candidate: string | null }) {
  const stacks = useAnswer("/api/v1/stacks", {}, { limit: 200 });
  const both = Boolean(baseline && candidate);
  const compared = useAnswer("/api/v1/comparisons", both ? {} : null, { baseline, candidate });
  const options = (stacks.value ?? []).map((each) => [each.key, each.stack.name] as [string, string]);
  return (
    <>
      <Heading title={t("nav.compare")} sub={t("compare.sub")} />
      <form class="filters" aria-label={t("compare.sides")} onSubmit={(event) => event.preventDefault()}>
        <Side name="baseline" word={t("field.baseline")} options={options} now={baseline} />
        <Side name="candidate" word={t("field.candidate")} options={options} now={candidate} />
        <button
          type="button"
          disabled={!both}
          onClick={() => go(changedAddress({ baseline: candidate, candidate: baseline }))}
        >
          {t("compare.swap")}
        </button>
      </form>
      {both ? (
        <Shown of={compared} lines={16}>
          {(value) => (
            <>
              {!value.comparable && (
                <Section title={t("compare.refused")}>
                  <p>{t("compare.refused_why")}</p>
                  <Differences name="refusal" caption={t("compare.refused")} of={value.differences} />
                </Section>
              )}
              <Told outcome={value.outcome} cells={value.cells} />
              {baseline && candidate && !isRun(baseline) && <Loads stacks={[baseline, candidate]} />}
            </>
          )}
        </Shown>
      ) : (
        <Empty command="kunline compare BASELINE CANDIDATE">{t("compare.choose")}</Empty>
      )}
    </>
  );
}

function isRun(asked: string): boolean {
  return /^[0-9a-f]{8}-/.test(asked);
}

function Loads({ stacks }: { stacks: [string, string] }) {
  return (
    <>
      <Section title={t("curves.title")}>
        <Throughput stacks={stacks} />
      </Section>
      <Section title={t("scaling.title")}>
        <Scaling stacks={stacks} />
      </Section>
    </>
  );
}

interface SideWanted {
  name: "baseline" | "candidate";
  word: string;
  options: [string, string][];
  now: string | null;
}

// A run is asked for by its id, from a series or its page; it stands among the stacks then.
function Side({ name, word, options, now }: SideWanted) {
  const known = options.find(([key]) => now && key.startsWith(now));
  const all: [string, string][] = now && !known ? [[now, `${t("kind.run")} ${now.slice(0, 8)}`], ...options] : options;
  return (
    <Choice
      label={word}
      value={known?.[0] ?? now ?? ""}
      options={all}
      any={t("compare.choose_one")}
      onChange={(value) => go(changedAddress({ [name]: value || null }))}
    />
  );
}

function Told({ outcome, cells }: { outcome: string; cells: Cells }) {
  const conditions = new Set(cells.map((cell) => cell.condition_key + cell.protocol_key));
  const hosts = [...new Set(cells.map((cell) => cell.host))].filter(Boolean);
  const pairs = new Map(cells.map((cell) => [`${cell.baseline_stack_key} ${cell.candidate_stack_key}`, cell]));
  return (
    <>
      <Facts of={[[t("field.outcome"), <Outcome of={outcome} />], [t("kind.cells"), count(conditions.size)], [t("field.host"), hosts.join(", ") || "–"]]} />
      {[...pairs.values()].map((cell) =>
        cell.baseline_stack_key && cell.baseline_stack_key !== cell.candidate_stack_key ? (
          <Section
            key={cell.candidate_stack_key}
            title={t("compare.stacks", { baseline: cell.baseline_stack_name ?? "", candidate: cell.candidate_stack_name })}
          >
            <StackDiff baseline={cell.baseline_stack_key} candidate={cell.candidate_stack_key} />
          </Section>
        ) : null,
      )}
      {cells.length > 0 && (
        <>
          <Section title={t("compare.judged")}>
            <Judged cells={cells} />
          </Section>
          <Creep cells={cells} />
          <Refused cells={cells} />
          <Settled cells={cells} />
        </>
      )}
    </>
  );
}

/** What the servers settled differently by themselves, once for all cells that say the same. */
function Settled({ cells }: { cells: Cells }) {
  const all = new Map(
    cells.flatMap((cell) => cell.resolution.map((each) => [`${each.field} ${each.baseline} ${each.candidate}`, each])),
  );
  if (all.size === 0) return null;
  return (
    <Section title={t("compare.settled")}>
      <p class="muted">{t("compare.settled_why")}</p>
      <Differences name="settled" caption={t("compare.settled")} of={[...all.values()]} />
    </Section>
  );
}
