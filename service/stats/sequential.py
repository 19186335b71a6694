"""Two arms looked at more than once as launches come in, and how many launches history asks for."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from service.stats.change import Change, change_of
from service.stats.power import Design, Goal
from service.stats.spending import confidences
from service.stats.variance import ENOUGH_FREEDOM, Expected


class LookError(ValueError):
    """A look was not planned, or looks are not planned as rising numbers of launches."""


class Step(StrEnum):
    """What a look says: where the change went, that more launches would tell, or that none did."""

    UP = "up"
    DOWN = "down"
    SAME = "same"
    GO_ON = "go on"
    UNTOLD = "untold"


@dataclass(frozen=True, slots=True)
class Looks:
    """The launches of each arm at every planned look, and the confidence of all looks together.

    They are fixed before the first launch: one that is added because a number looked interesting
    is not paid for. A look after fewer than two launches sees no spread between launches and rests
    on history alone. Raises LookError.
    """

    counts: tuple[int, ...]
    confidence: float = 0.95

    def __post_init__(self) -> None:
        if not self.counts or self.counts[0] < 1 or sorted(set(self.counts)) != [*self.counts]:
            raise LookError(f"looks are rising numbers of launches from 1 on, not {self.counts}")

    def confidence_at(self, launches: int) -> float:
        """Return the confidence of the interval at a planned look. Raises LookError."""
        if launches not in self.counts:
            planned = ", ".join(map(str, self.counts))
            raise LookError(f"no look is planned after {launches} launches an arm, but {planned}")
        return confidences(self.counts, whole=self.confidence)[self.counts.index(launches)]


@dataclass(frozen=True, slots=True)
class Looked:
    """What one look says, and the change it rests on, whose interval is this look's own."""

    step: Step
    change: Change


def look_at(
    baseline: Sequence[Sequence[float]],
    candidate: Sequence[Sequence[float]],
    looks: Looks,
    *,
    tolerance: float,
    expected: Expected | None = None,
) -> Looked:
    """Return what the newest planned look says of two arms.

    The launch is the unit. The interval is that of the one rule at the confidence that this look
    may spend, so that all looks together call equal arms changed as seldom as one look would.
    A change that the last look does not call is untold; at an earlier look it goes on.

    baseline, candidate: the repeats of each launch, all above zero, of the first launches in order;
    the arm with fewer says which look it is. tolerance: a ratio. expected: the spread that history
    knows of. Raises LookError, TooFewValuesError and ValueNotPositiveError.
    """
    launches = min(sum(map(bool, arm)) for arm in (baseline, candidate))
    change = change_of(
        baseline, candidate, confidence=looks.confidence_at(launches), expected=expected
    )
    return Looked(_step(change, tolerance, is_last=launches == looks.counts[-1]), change)


def launches_by_history(expected: Expected, goal: Goal, *, repeats: int, planned: int) -> int:
    """Return after how many launches of each arm a cell of an ordinary plan may end.

    History alone says so: the fewest launches that reach the goal at the spread it knows, and
    never more than planned. What the plan itself measured is not looked at, so the end cannot
    depend on how quiet the cell happens to be. With less history than makes a variance stand on
    its own nothing is saved.

    planned: at least 1. repeats: in each launch.
    """
    if expected.freedom < ENOUGH_FREEDOM:
        return planned
    able = (
        launches
        for launches in range(min(2, planned), planned)
        if goal.is_reached(expected, Design(launches, repeats))
    )
    return next(able, planned)


def _step(change: Change, tolerance: float, *, is_last: bool) -> Step:
    interval = change.interval
    if interval.low > 0 and interval.center >= tolerance:
        return Step.UP
    if interval.high < 0 and interval.center <= -tolerance:
        return Step.DOWN
    if -tolerance <= interval.low and interval.high <= tolerance:
        return Step.SAME
    return Step.UNTOLD if is_last else Step.GO_ON
