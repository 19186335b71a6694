"""Attribution: which of the steps from a good stack to a bad one moved the number."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations, islice
from types import MappingProxyType

from service.domain.constraint import Constraint, move_together
from service.domain.metric import Better, Metric
from service.domain.stack import SwapScope
from service.stats.interval import Interval

# A combo that can be installed is looked for among so many ways to part the candidates.
PARTINGS_MAX = 2000

# No combo is worth more launches of each arm at its first look; the next one doubles them. One in
# twenty intervals lies across the half-way mark by bad luck alone, and hardly any does so twice.
LAUNCHES_MAX, LOOKS = 24, 2

# Nothing falls by all it has; a bound that would is taken for one short of it.
LEAST_CHANGE = -1 + 1e-9

# The steps, by their place in the list, that a combo has at their bad side; the rest are good.
Combo = frozenset[int]


class NothingDiffersError(ValueError):
    """Two stacks have the same pins, so no component can explain anything."""

    def __init__(self) -> None:
        super().__init__(
            "the good and the bad stack differ in nothing that is pinned: "
            "look at the host, the client and the condition instead"
        )


@dataclass(frozen=True, slots=True)
class Part:
    """One thing in which two stacks differ: a component, a server argument or a variable.

    good, bad: what it is on either side, '(absent)' where one lacks it.
    """

    name: str
    good: str
    bad: str
    scope: SwapScope = SwapScope.PROCESS


@dataclass(frozen=True, slots=True)
class Step:
    """Parts that can only move together, and so are one candidate."""

    parts: tuple[Part, ...]

    @property
    def scope(self) -> SwapScope:
        """What must be restarted for it."""
        order = list(SwapScope)
        return max((part.scope for part in self.parts), key=order.index)

    def __str__(self) -> str:
        return " with ".join(f"{part.name} {part.good} → {part.bad}" for part in self.parts)


class Level(StrEnum):
    """Where a combo's number lies: with the good stack's, the bad one's, between, or nobody knows.

    broken: it did not come up or cannot be judged, so nothing is known of its speed.
    """

    GOOD = "as the good stack"
    BAD = "as the bad stack"
    BETWEEN = "between the two"
    UNTOLD = "untold"
    BROKEN = "broken"


class Cause(StrEnum):
    """What kind of answer an attribution is."""

    SINGLE = "single"
    INTERACTION = "interaction"
    SEVERAL = "several"
    INSEPARABLE = "inseparable"
    HELD = "held"
    UNTOLD = "untold"


CAUSES = MappingProxyType(
    {
        Cause.SINGLE: "this step alone, put into the good stack, makes it as slow as the bad one",
        Cause.INTERACTION: "none of these steps alone makes the good stack slow, all of them do",
        Cause.SEVERAL: "more than one of these steps has a part in it: some combo lies between",
        Cause.INSEPARABLE: "no combo that tells these steps apart can be installed",
        Cause.HELD: "it is among the steps of the host, which move only with a person's yes",
        Cause.UNTOLD: "a combo could not be told from either stack: more launches would tell",
    }
)


# What it comes to that a combo can be put on neither side.
OBSTACLES = MappingProxyType(
    {
        Level.BETWEEN: Cause.SEVERAL,
        Level.UNTOLD: Cause.UNTOLD,
        Level.BROKEN: Cause.INSEPARABLE,
    }
)


class State(StrEnum):
    """How far an attribution is.

    stopped: its budget was spent before it could tell; asked again with more it goes on.
    """

    SEARCHING = "searching"
    ENDED = "ended"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Attribution:
    """What an attribution found: the kind of cause, and the steps it lies among."""

    cause: Cause
    steps: tuple[Step, ...]

    @property
    def reason(self) -> str:
        """Why, as a sentence."""
        return CAUSES[self.cause]


@dataclass(frozen=True, slots=True)
class Search:
    """The steps between two stacks and which combos of them can be installed.

    steps: those that may move. held: steps of the host that stay at their bad side because nobody
    said yes to moving them. fits: whether a combo of the others can be installed.
    """

    steps: tuple[Step, ...]
    fits: Callable[[Combo], bool]
    held: tuple[Step, ...] = ()

    @property
    def whole(self) -> Combo:
        """The combo that is the bad stack."""
        return frozenset(range(len(self.steps)))


def steps_of(parts: Sequence[Part], constraints: Sequence[Constraint]) -> tuple[Step, ...]:
    """Return the steps between two stacks: parts that move together are one.

    Raises NothingDiffersError.
    """
    if not parts:
        raise NothingDiffersError
    by_name = {part.name: part for part in parts}
    groups = dict.fromkeys(
        tuple(sorted(move_together(constraints, {name}) & by_name.keys())) for name in by_name
    )
    return tuple(Step(tuple(by_name[name] for name in group)) for group in groups)


def as_logarithm(metric: Metric, worsening: Interval) -> Interval:
    """Return a worsening of a metric, a ratio, as a logarithm, positive for the worse.

    There an interval is as wide at the good end of a change as at the bad one, so the mark half-way
    is as far from either. Of ratios it is not: half of a latency that becomes three times as long
    is twice as long, which lies nearer to the bad stack, whose combos would take more launches.
    """
    sign = 1 if metric.better is Better.LOWER else -1

    def logarithm(ratio: float) -> float:
        return sign * math.log1p(max(sign * ratio, LEAST_CHANGE))

    return Interval(
        logarithm(worsening.low), logarithm(worsening.center), logarithm(worsening.high)
    )


def level(worsening: Interval, whole: float) -> Level:
    """Return where a combo lies, by its worsening from the good stack.

    worsening: a logarithm with its interval. whole: the bad stack's own worsening, above zero. The
    half-way mark parts good from bad, and an interval across it tells nothing, or, where it holds
    neither end, that a part of the whole is there.
    """
    if worsening.low > whole / 2:
        return Level.BAD
    if worsening.high < whole / 2:
        return Level.GOOD
    return Level.BETWEEN if worsening.low > 0 and worsening.high < whole else Level.UNTOLD


def launches_to_tell(worsening: Interval, launches: int) -> int:
    """Return the launches of each arm with which a combo is told from either end of a change.

    The half-way mark is half of the whole away from both ends, so the interval should reach no
    further than a quarter: then a combo at one end crosses it about as seldom as it should.

    worsening: of the bad stack, a logarithm above zero. launches: of each arm behind it, which are
    also the fewest; LAUNCHES_MAX are the most.
    """
    reach = (worsening.high - worsening.low) / 2
    times = (reach / (worsening.center / 4)) ** 2
    return max(launches, min(LAUNCHES_MAX, math.ceil(launches * times)))


def is_told(found: Level) -> bool:
    """Return whether more launches of a combo would tell nothing new."""
    return found not in {Level.UNTOLD, Level.BETWEEN}


def next_of(search: Search, seen: Mapping[Combo, Level]) -> Combo | Attribution:
    """Return the combo that is to be measured next, or what was found.

    Everything follows from what was seen, so cells that were measured before cost nothing and an
    attribution that was cut short goes on where it was. For one culprit among k steps it takes at
    most ceil(log2 k) combos to find it and one to see that it is enough alone; where it is not,
    what it needs beside it is searched for in the same way.

    seen: combos beside the good and the bad stack.
    """
    known = _known(search, seen)
    needed: Combo = frozenset()
    while True:
        state = known.get(needed)
        if state is None:
            return needed if search.fits(needed) else _among(search, Cause.INSEPARABLE, needed)
        if state is not Level.GOOD:
            return _ended(search, state, needed)
        found = _flip(search, known, needed)
        if not isinstance(found, int):
            return found
        needed |= {found}


def told_among(search: Search, seen: Mapping[Combo, Level], combo: Combo) -> Combo:
    """Return the steps among which a combo is to tell.

    They are those of the least bad combo above it that the largest good one below it lacks.

    seen: combos beside the good and the bad stack, without this one.
    """
    known = _known(search, seen)
    goods = [each for each, state in known.items() if state is Level.GOOD and each < combo]
    bads = [each for each, state in known.items() if state is Level.BAD and each > combo]
    return min(bads, key=len, default=search.whole) - max(goods, key=len, default=frozenset())


def most_combos(steps: int) -> int:
    """Return how many combos a single culprit among so many steps takes at most."""
    return max(0, steps - 1).bit_length() + (1 if steps > 1 else 0)


def _known(search: Search, seen: Mapping[Combo, Level]) -> dict[Combo, Level]:
    """Return what is known of combos: those seen, and the good and the bad stack."""
    known = {**seen, search.whole: Level.BAD}
    if not search.held:
        known[frozenset()] = Level.GOOD
    return known


def _ended(search: Search, state: Level, needed: Combo) -> Attribution:
    """Return the answer where the needed steps alone are not as fast as the good stack."""
    if not needed and state is Level.BAD:
        return Attribution(Cause.HELD, search.held)
    if state is Level.BAD:
        return _among(search, Cause.SINGLE if len(needed) == 1 else Cause.INTERACTION, needed)
    return _among(search, OBSTACLES[state], search.whole)


def _flip(search: Search, known: Mapping[Combo, Level], needed: Combo) -> int | Combo | Attribution:
    """Return the step that turns combos bad beside what is needed, or the combo that tells."""
    low, high = _nearest(known, needed)
    if len(high - low) == 1:
        (step,) = high - low
        return step
    combo = _middle(search, known, low, high)
    if combo is None:
        return _among(search, Cause.INSEPARABLE, high - low | needed)
    if combo not in known:
        return combo
    return _among(search, OBSTACLES[known[combo]], high - low | needed)


def _nearest(known: Mapping[Combo, Level], needed: Combo) -> tuple[Combo, Combo]:
    """Return a good combo with all that is needed and a bad one above it, as near as there are."""
    goods = [each for each, state in known.items() if state is Level.GOOD and each >= needed]
    bads = [each for each, state in known.items() if state is Level.BAD]
    pairs = [(low, high) for low in goods for high in bads if low < high]
    return min(pairs, key=lambda pair: (len(pair[1] - pair[0]), *map(sorted, pair)))


def _middle(search: Search, known: Mapping[Combo, Level], low: Combo, high: Combo) -> Combo | None:
    """Return an installable combo half-way between two, or None. A broken one tells nothing."""
    return next(
        (
            combo
            for combo in (low.union(taken) for taken in islice(_parts(high - low), PARTINGS_MAX))
            if known.get(combo) is not Level.BROKEN and search.fits(combo)
        ),
        None,
    )


def _parts(candidates: Combo) -> Iterator[tuple[int, ...]]:
    """Yield the ways to take some of the candidates, the evenest first."""
    half = len(candidates) // 2
    for size in sorted(range(1, len(candidates)), key=lambda size: abs(size - half)):
        yield from combinations(sorted(candidates), size)


def _among(search: Search, cause: Cause, places: Collection[int]) -> Attribution:
    return Attribution(cause, tuple(search.steps[place] for place in sorted(places)))
