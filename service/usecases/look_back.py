"""Look back: hold candidates to the last accepted stack as well, so that slow creep is seen."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Self

from service.domain.cell import Cell
from service.domain.comparison import Obstacle
from service.domain.creep import LET_PASS, Creep, creep_of, is_accepted
from service.domain.incident import Triage
from service.domain.policy import Policy
from service.domain.verdict import Outcome, Verdict
from service.formats.comparisons import CellComparison, CreepRead
from service.formats.verdicts import VerdictRead
from service.stats.interval import Interval
from service.store import earlier_stacks, runs, stacks
from service.store.database import ReadSession
from service.store.earlier_stacks import EarlierStack
from service.store.runs import StoredRun
from service.usecases.history import expected_of_pairs
from service.usecases.sides import Arm, NamedStack, Pair, compared, load

# As many stacks before a candidate as are looked at, until one of them was accepted.
LOOKED_BACK = 3
RUNS = 20_000
# As many metrics as the sentence on a cell names.
NAMED = 3


@dataclass(frozen=True, slots=True)
class Judged:
    """A cell that was judged against its baseline: what of, and what was said."""

    pair: Pair
    told: CellComparison

    @property
    def may_be_held(self) -> bool:
        """Whether there is something to hold to an earlier stack: a host, and two judged arms."""
        sides = self.pair.host is not None and self.pair.baseline_stack is not None
        judged = self.told.comparison.outcome in {*LET_PASS, Outcome.REGRESSED}
        return sides and judged


@dataclass(frozen=True, slots=True)
class Past:
    """What was measured before some candidates, and what people said of it.

    before: by candidate, cell and host, the last stacks built before it, newest first.
    """

    before: Mapping[tuple[str, Cell, str], Sequence[EarlierStack]]
    triage: Mapping[tuple[str, Cell], Triage]
    built_at: Mapping[str, date]

    @classmethod
    def of(cls, session: ReadSession, pairs: Sequence[Pair]) -> Self:
        """Return the past of some pairs."""
        named = {side.key for pair in pairs for side in (pair.candidate_stack, _baseline(pair))}
        built_at = {key: found.built_at for key, found in stacks.by_key(session, named).items()}
        conditions: dict[tuple[str, str], set[str]] = defaultdict(set)
        for pair in pairs:
            conditions[pair.candidate_stack.key, pair.host or ""].add(pair.cell.condition_key)
        before = {
            (key, cell, host): found
            for (key, host), under in conditions.items()
            for cell, found in earlier_stacks.earlier(
                session, built_at[key], conditions=under, host=host, each=LOOKED_BACK
            ).items()
        }
        keys = {each.key for found in before.values() for each in found}
        every = {pair.cell.condition_key for pair in pairs}
        return cls(
            before=before,
            triage=earlier_stacks.brought(session, keys, conditions=every),
            built_at=built_at,
        )

    def earlier(self, pair: Pair, rank: int) -> NamedStack | None:
        """Return the stack that stands so far before a candidate in its cell, or None.

        Only what was built after the baseline can have been a step from there.
        """
        found = self.before.get((pair.candidate_stack.key, pair.cell, pair.host or ""), ())
        if rank >= len(found):
            return None
        stack, baseline = found[rank], _baseline(pair)
        if stack.key == baseline.key or stack.built_at <= self.built_at[baseline.key]:
            return None
        return NamedStack(stack.key, stack.name)


_ABSENT = Obstacle(Outcome.MISSING, "it has no run")


def look_back(
    session: ReadSession, judged: Sequence[Judged], *, policy: Policy
) -> tuple[CellComparison, ...]:
    """Return judged cells with what is said of each beside its last accepted stack.

    Accepted is the last stack built before the candidate, and after the baseline, that was let
    pass: not regressed against the baseline on that host, or by somebody's word.
    """
    asked = {place: each for place, each in enumerate(judged) if each.may_be_held}
    if not asked:
        return tuple(each.told for each in judged)
    past = Past.of(session, [each.pair for each in asked.values()])
    accepted = _accepted(session, {place: each.pair for place, each in asked.items()}, past, policy)
    steps = {
        place: replace(
            asked[place].pair,
            baseline_stack=pair.candidate_stack,
            baseline=pair.candidate,
            against="stored",
        )
        for place, pair in accepted.items()
    }
    said = dict(zip(steps, _compared(session, [*steps.values()], policy), strict=True))
    return tuple(
        _with_step(each.told, said[place]) if place in said else each.told
        for place, each in enumerate(judged)
    )


def _accepted(
    session: ReadSession, asked: Mapping[int, Pair], past: Past, policy: Policy
) -> dict[int, Pair]:
    """Return the pair of baseline and last accepted stack of each place that has one."""
    found: dict[int, Pair] = {}
    for rank in range(LOOKED_BACK):
        named = {
            place: earlier
            for place, pair in asked.items()
            if place not in found and (earlier := past.earlier(pair, rank)) is not None
        }
        tried = _beside(session, asked, named)
        for (place, pair), told in zip(
            tried.items(), _compared(session, [*tried.values()], policy), strict=True
        ):
            said = past.triage.get((pair.candidate_stack.key, pair.cell))
            if is_accepted(told.comparison.outcome, said):
                found[place] = pair
    return found


def _beside(
    session: ReadSession, asked: Mapping[int, Pair], named: Mapping[int, NamedStack]
) -> Mapping[int, Pair]:
    """Return the baseline of each place beside an earlier stack, with what is stored of that."""
    keys = {stack.key for stack in named.values()}
    conditions = {asked[place].cell.condition_key for place in named}
    hosts = {asked[place].host or "" for place in named}
    found = _runs(session, keys, conditions, hosts)
    return {
        place: replace(
            asked[place],
            candidate_stack=stack,
            candidate=Arm(found[stack.key, asked[place].cell, asked[place].host or ""], _ABSENT),
            against="stored",
        )
        for place, stack in named.items()
    }


def _compared(
    session: ReadSession, pairs: Sequence[Pair], policy: Policy
) -> Sequence[CellComparison]:
    if not pairs:
        return ()
    stored = load(session, pairs)
    return [
        compared(pair, stored, policy=policy, expected=expected)
        for pair, expected in zip(pairs, expected_of_pairs(session, pairs), strict=True)
    ]


def _runs(
    session: ReadSession, keys: set[str], conditions: set[str], hosts: set[str]
) -> Mapping[tuple[str, Cell, str], Sequence[StoredRun]]:
    found: dict[tuple[str, Cell, str], list[StoredRun]] = defaultdict(list)
    for key in sorted(keys):
        for host in sorted(hosts):
            for run in runs.of_stack(session, key, conditions=conditions, host=host, limit=RUNS):
                found[key, run.cell, host].append(run)
    return found


def _baseline(pair: Pair) -> NamedStack:
    if pair.baseline_stack is None:
        raise ValueError(f"the cell {pair.cell} has no baseline to look back to")
    return pair.baseline_stack


def _with_step(told: CellComparison, step: CellComparison) -> CellComparison:
    whole, last = told.comparison, step.comparison
    found = creep_of([*map(_verdict, whole.verdicts)], [*map(_verdict, last.verdicts)])
    name = step.baseline_stack_name or ""
    sentences = [_crept(found, told.baseline_stack_name or "", name)] if found else []
    if last.outcome is Outcome.REGRESSED and whole.outcome in LET_PASS:
        sentences.append(_lost(last.verdicts, name))
    comparison = whole.model_copy(update={"warnings": (*whole.warnings, *sentences)})
    update = {
        "comparison": comparison,
        "accepted_stack_key": step.baseline_stack_key,
        "accepted_stack_name": name,
        "accepted": last,
        "creep": tuple(CreepRead.of(each) for each in found),
    }
    return told.model_copy(update=update)


def _crept(found: Sequence[Creep], baseline: str, accepted: str) -> str:
    listed = ", ".join(
        f"{each.metric} {each.worsening:+.1%} (last step {each.step:+.1%})"
        for each in found[:NAMED]
    )
    more = f" and {len(found) - NAMED} metrics more" if len(found) > NAMED else ""
    return (
        f"slow creep since {baseline}: {listed}{more}; each step is within the tolerance, the sum "
        f"is not, so {accepted} alone did not bring it"
    )


def _lost(verdicts: Sequence[VerdictRead], accepted: str) -> str:
    worse = [each.metric for each in verdicts if each.outcome is Outcome.REGRESSED]
    return (
        f"worse than {accepted}, which was accepted last, in {', '.join(worse[:NAMED])}, though "
        "within the tolerance of the baseline"
    )


def _verdict(read: VerdictRead) -> Verdict:
    """Return a verdict as the domain has it."""
    known = read.worsening is not None and read.low is not None and read.high is not None
    interval = Interval(read.low or 0.0, read.worsening or 0.0, read.high or 0.0)
    return Verdict(
        read.metric, read.outcome, interval if known else None, read.tolerance, read.reason
    )
