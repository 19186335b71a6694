"""Judge squares of the matrix: a stack against a baseline in one cell, on one host.

The verdict is that of comparing what is stored of the two, by the one rule. What was judged
before, and rests on the same runs, is not judged again.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

from service.domain.cell import Cell
from service.domain.comparison import Obstacle
from service.domain.policy import Policy
from service.domain.verdict import Outcome
from service.formats.comparisons import CellComparison
from service.formats.matrix_view import MetricVerdict
from service.store import judged, noise, runs
from service.store.database import ReadSession
from service.store.judged import Judged
from service.store.measured import Measured
from service.store.runs import StoredRun
from service.usecases.history import expected_of_pairs
from service.usecases.sides import Arm, NamedStack, Pair, compared, load

# As many runs of one stack as are looked at.
RUNS = 20_000
# Raised when a rule may say something else of the same runs within one release.
JUDGING_REVISION = 1
NO_BASELINE = "no baseline is pinned for this cell"

Answers = Mapping[str, Mapping[str, Any]]
# The version of what is known of the noise of a cell on a host.
Histories = Mapping[tuple[Cell, str], int]


@dataclass(frozen=True)
class Place:
    """One square with both of its sides, before anything is said of it.

    found, held: what is measured of the candidate, and of the baseline, on the host.
    """

    cell: Cell
    candidate: NamedStack
    baseline: NamedStack | None
    host: str | None
    hosts: int
    found: Measured | None
    held: Measured | None

    @cached_property
    def subject(self) -> str:
        """The digest of what is judged here."""
        against = self.baseline.key if self.baseline else None
        cell = self.cell.condition_key, self.cell.protocol_key
        return digest("square", *cell, self.candidate.key, against, self.host)

    @property
    def history_speaks(self) -> bool:
        """Whether a verdict here may rest on the noise of other sessions; see history."""
        found, held = self.found, self.held
        if found is None or held is None:
            return False
        together = bool(found.one_session and held.one_session)
        return together or found.launches == held.launches == 1

    def rests_on(self, rule: str, histories: Histories) -> str:
        """Return the digest of what a verdict here rests on."""
        sides = (side.state if side else None for side in (self.found, self.held))
        return digest(rule, str(self._history(histories)), *sides)

    def name(self, histories: Histories) -> tuple[object, ...]:
        """Return all that a square here rests on, but for its cell and the rules."""
        return (
            self.candidate.key,
            self.baseline.key if self.baseline else None,
            self.host,
            self.hosts,
            self.found.told if self.found else None,
            self.held.told if self.held else None,
            self._history(histories),
        )

    def _history(self, histories: Histories) -> int | None:
        return histories.get((self.cell, self.host or "")) if self.history_speaks else None


@dataclass(frozen=True, slots=True)
class Squares:
    """What is measured of some stacks, by stack and cell, and then by host."""

    measured: Mapping[tuple[str, Cell], Mapping[str, Measured]]

    @classmethod
    def of(cls, found: Iterable[Measured]) -> "Squares":
        """Return what is measured, sorted by square."""
        by_square: dict[tuple[str, Cell], dict[str, Measured]] = defaultdict(dict)
        for each in found:
            by_square[each.stack_key, each.cell][each.host] = each
        return cls(dict(by_square))

    def cells_of(self, stack_keys: Collection[str]) -> set[Cell]:
        """Return the cells in which any of some stacks was measured."""
        return {cell for key, cell in self.measured if key in stack_keys}

    def place(self, cell: Cell, candidate: NamedStack, baseline: NamedStack | None) -> Place:
        """Return a square on the host that measured both sides, last of all the candidate's."""
        found = self.measured.get((candidate.key, cell), {})
        held = self.measured.get((baseline.key, cell), {}) if baseline else {}
        among = [found[host] for host in found.keys() & held.keys()] or list(found.values())
        last = max(among, key=lambda each: (each.measured_at, each.host), default=None)
        host = last.host if last else min(held, default=None)
        return Place(
            cell=cell,
            candidate=candidate,
            baseline=baseline,
            host=host,
            hosts=len(found),
            found=last,
            held=held.get(host) if host else None,
        )


def judge_squares(
    session: ReadSession, places: Sequence[Place], *, rule: str
) -> tuple[Answers, Sequence[Judged]]:
    """Return what is said of some squares, by subject, and those of it that had to be judged now.

    rule: a text that is another one whenever the rules may say something else.
    """
    histories = histories_of(session, places)
    wanted = {place.subject: place.rests_on(rule, histories) for place in places}
    answers = dict(judged.known(session, wanted))
    unknown = {place.subject: place for place in places if place.subject not in answers}
    if not unknown:
        return answers, ()
    pairs = _pairs(session, list(unknown.values()))
    stored = load(session, pairs)
    fresh = [
        Judged(
            subject,
            wanted[subject],
            _answer(compared(pair, stored, policy=Policy(), expected=expected)),
        )
        for subject, pair, expected in zip(
            unknown, pairs, expected_of_pairs(session, pairs), strict=True
        )
    ]
    answers |= {each.subject: each.answer for each in fresh}
    return answers, fresh


def histories_of(session: ReadSession, places: Iterable[Place]) -> Histories:
    """Return which noise is known in some squares, where it may have a say."""
    heard = {place.cell.condition_key for place in places if place.history_speaks}
    return noise.versions(session, heard) if heard else {}


def rule_of(release: str) -> str:
    """Return what answers that are kept were judged by."""
    return f"{release} {JUDGING_REVISION}"


def digest(*words: str | None) -> str:
    """Return the SHA-256 of some words, none of which runs into the next."""
    return sha256(repr(words).encode()).hexdigest()


def _pairs(session: ReadSession, places: Sequence[Place]) -> list[Pair]:
    sides = _runs(session, places)
    return [
        Pair(
            cell=place.cell,
            baseline_stack=place.baseline,
            baseline=_baseline_arm(place, sides),
            candidate_stack=place.candidate,
            candidate=_candidate_arm(place, sides),
            host=place.host,
            against="stored",
        )
        for place in places
    ]


Sides = Mapping[tuple[str, Cell, str], Sequence[StoredRun]]


def _runs(session: ReadSession, places: Sequence[Place]) -> Sides:
    """Return the runs of both sides of some squares, by stack, cell and host."""
    cells_of: dict[str, set[str]] = defaultdict(set)
    for place in places:
        for stack in (place.candidate, place.baseline):
            if stack is not None:
                cells_of[stack.key].add(place.cell.condition_key)
    found: dict[tuple[str, Cell, str], list[StoredRun]] = defaultdict(list)
    for key, conditions in cells_of.items():
        for run in runs.of_stack(session, key, conditions=sorted(conditions), limit=RUNS):
            found[key, run.cell, run.host].append(run)
    return found


def _baseline_arm(place: Place, sides: Sides) -> Arm:
    if place.baseline is None:
        return Arm((), Obstacle(Outcome.INSUFFICIENT_BASELINE, NO_BASELINE))
    where = f" on host {place.host}" if place.host else ""
    reason = f"{place.baseline.name} has no launch{where}"
    found = sides.get((place.baseline.key, place.cell, place.host or ""), ())
    return Arm(found, Obstacle(Outcome.INSUFFICIENT_BASELINE, reason))


def _candidate_arm(place: Place, sides: Sides) -> Arm:
    found = sides.get((place.candidate.key, place.cell, place.host or ""), ())
    return Arm(found, Obstacle(Outcome.MISSING, "never measured in this cell"))


def _answer(cell: CellComparison) -> dict[str, Any]:
    """Return a comparison as it is kept: what a square shows."""
    verdicts = [MetricVerdict.of(verdict) for verdict in cell.comparison.verdicts]
    return {
        "outcome": cell.comparison.outcome.value,
        "baseline_launches": cell.baseline_launches,
        "candidate_launches": cell.candidate_launches,
        "verdicts": [verdict.model_dump(mode="json") for verdict in verdicts],
    }
