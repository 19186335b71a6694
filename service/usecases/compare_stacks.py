"""Compare two stacks in very many cells, of which only what changed since is judged anew."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from service.domain.cell import Cell
from service.domain.policy import Policy
from service.domain.verdict import Outcome, foremost
from service.formats.comparisons import CellsCompared
from service.store import marks, noise, runs, stacks
from service.store.database import ReadSession
from service.store.measured import Measured
from service.store.runs import StoredRun
from service.store.stacks import StoredStack
from service.usecases.compare_stored import compare_pairs, hosts_of, pair_of
from service.usecases.measured_squares import measured_squares
from service.usecases.pieces import Pieces, joined
from service.usecases.sides import NamedStack

# As many cells are judged at one time, with as many runs of each stack.
BATCH = 50
RUNS = 20_000

# What is measured of a stack, or what is stored, by cell and then by host.
ByHost = Mapping[Cell, Mapping[str, Measured]]


@dataclass(frozen=True, slots=True)
class CellTold:
    """A cell's comparison as JSON, and its word."""

    content: bytes
    outcome: Outcome

    @property
    def weight(self) -> int:
        """Its bytes, and about as many for its name."""
        return 2 * len(self.content)


@dataclass(frozen=True, slots=True)
class CellsTold:
    """The comparison of two stacks as JSON, and how many of its cells were judged for it."""

    content: bytes
    judged: int


@dataclass(frozen=True, slots=True)
class Stacks:
    """Two stacks, what is measured of each, and the cells that both have, on their hosts."""

    baseline: StoredStack
    candidate: StoredStack
    before: ByHost
    after: ByHost

    @property
    def squares(self) -> Sequence[tuple[Cell, str]]:
        """The cells to be compared and on which host, in the order that the candidate had them."""
        both = [cell for cell in self.after if cell in self.before]
        return [
            (cell, host)
            for cell in sorted(both, key=self._order)
            for host in hosts_of(self.before[cell].keys(), self.after[cell].keys())
        ]

    def name(self, cell: Cell, host: str) -> tuple[object, ...]:
        """Return what is measured of both sides of a cell on a host."""
        held, found = self.before[cell].get(host), self.after[cell].get(host)
        absent = () if held else sorted(self.before[cell])
        return (
            cell.condition_key,
            cell.protocol_key,
            host,
            held.told if held else None,
            found.told if found else None,
            *absent,
        )

    def _order(self, cell: Cell) -> tuple[datetime, str, str]:
        first = min(found.first_at for found in self.after[cell].values())
        return first, cell.condition_key, cell.protocol_key


@dataclass(frozen=True, slots=True)
class StacksAsked:
    """Two stacks to be compared, by key, and what an answer about them rests on.

    rule: a text that is another one whenever the rules may say something else. past: one that is
    whenever something else may be the last accepted stack between the two, or was measured of it.
    """

    baseline: str
    candidate: str
    rule: str
    past: str
    rests_on: str


def past_of(session: ReadSession, baseline: StoredStack, candidate: StoredStack) -> str:
    """Return a text of what is measured of the stacks between two, and said of incidents."""
    between = stacks.built_between(session, baseline.built_at, candidate.built_at)
    return marks.of_stacks(session, between) + marks.of_incidents(session)


def compare_stacks(
    session: ReadSession,
    asked: StacksAsked,
    *,
    policy: Policy,
    cells: Pieces[CellTold],
    squares: Pieces[Measured],
    least: int,
) -> CellsTold | None:
    """Return the comparison of two stacks as compare_stored() has it.

    None where they share fewer cells than least: those are judged as fast as they are found.
    cells, squares: those that were told before, of which only what changed since is told anew.
    """
    found = _stacks(session, asked, squares)
    places = found.squares
    if len(places) < least:
        return None
    judged = 0

    def tell(missing: Sequence[int]) -> Sequence[CellTold]:
        nonlocal judged
        judged = len(missing)
        lacking = [places[place] for place in missing]
        batches = (lacking[begin : begin + BATCH] for begin in range(0, judged, BATCH))
        return list(chain.from_iterable(_told(session, found, some, policy) for some in batches))

    histories = noise.versions(session, {cell.condition_key for cell, _ in places})
    rests = asked.baseline, asked.candidate, asked.rule, asked.past, policy.min_repeats
    names = [(rests, found.name(cell, host), histories.get((cell, host))) for cell, host in places]
    told = cells.told(names, tell)
    answer = CellsCompared(
        baseline=asked.baseline,
        candidate=asked.candidate,
        comparable=True,
        outcome=foremost(cell.outcome for cell in told),
        differences=(),
        cells=(),
    )
    return CellsTold(joined(answer, "cells", [cell.content for cell in told]), judged)


def _stacks(session: ReadSession, asked: StacksAsked, squares: Pieces[Measured]) -> Stacks:
    baseline, candidate = asked.baseline, asked.candidate
    by_stack: dict[str, dict[Cell, dict[str, Measured]]] = {baseline: {}, candidate: {}}
    for found in measured_squares(session, by_stack.keys(), kept=squares):
        by_stack[found.stack_key].setdefault(found.cell, {})[found.host] = found
    known = stacks.by_key(session, by_stack)
    return Stacks(known[baseline], known[candidate], by_stack[baseline], by_stack[candidate])


def _told(
    session: ReadSession, found: Stacks, squares: Sequence[tuple[Cell, str]], policy: Policy
) -> Sequence[CellTold]:
    under = {cell.condition_key for cell, _ in squares}
    before = _runs(session, found.baseline, under)
    after = _runs(session, found.candidate, under)
    pairs = [
        pair_of(
            (_named(found.baseline), before.get(cell, {})),
            (_named(found.candidate), after.get(cell, {})),
            cell,
            host,
        )
        for cell, host in squares
    ]
    return [
        CellTold(cell.model_dump_json().encode(), cell.comparison.outcome)
        for cell in compare_pairs(session, pairs, policy=policy, looking_back=True)
    ]


def _runs(
    session: ReadSession, stack: StoredStack, under: Collection[str]
) -> Mapping[Cell, Mapping[str, Sequence[StoredRun]]]:
    by_cell: dict[Cell, dict[str, list[StoredRun]]] = {}
    for run in runs.of_stack(session, stack.stack.key, conditions=under, limit=RUNS):
        by_cell.setdefault(run.cell, {}).setdefault(run.host, []).append(run)
    return by_cell


def _named(stored: StoredStack) -> NamedStack:
    return NamedStack(stored.stack.key, stored.stack.name)
