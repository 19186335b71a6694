"""Confirm: which cells of a suspicion are measured again, in which order, and what comes of it.

The run that raised a suspicion is never part of the evidence: a confirm session is new launches of
both stacks on one host, and the size it reports is its own.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from itertools import chain, zip_longest
from statistics import median

from service.domain.cell import Cell
from service.domain.metric import Metric
from service.domain.regime import Regime, regime_of, tolerance_of
from service.domain.verdict import Launches, Outcome
from service.stats.change import TooFewValuesError, change_of
from service.stats.variance import Expected

# More cells than these tell little that is new of one cause, and each costs an error of its own.
CELLS_MAX = 4
# Launches of each arm at the planned looks.
COUNTS = (2, 4, 6)
# What looks at noise alone may say wrongly, all cells and looks of one confirm together.
CONFIDENCE = 0.99

# Fewer of an event's series than this share may be there by chance: the screen lets half as many
# be false.
SHOWN = 0.1

# What is told of a cell at a look stays told, for each look has its share of one error.
TOLD = frozenset({Outcome.REGRESSED, Outcome.IMPROVED, Outcome.UNCHANGED})
# Words that the rule says of two stacks; any other says why it could not speak.
SAID = TOLD | {Outcome.INCONCLUSIVE}

# The regimes that an event shows, each with the change that is usual in it, a ratio.
Shown = Mapping[Regime, float]
# From some positions, one drawn: all randomness comes in.
Draw = Callable[[int], int]


class Arm(StrEnum):
    """Which of the two stacks a launch is of."""

    BASELINE = "baseline"
    CANDIDATE = "candidate"


class State(StrEnum):
    """Where a confirm stands: it waits for budget, its launches run, or it is over."""

    WAITING = "waiting"
    RUNNING = "running"
    ENDED = "ended"


class Ending(StrEnum):
    """What ended a confirm; only a look tells more than that it is not known.

    NOT_INTERLEAVED: a component that needs a reboot changed, so canary and control hosts speak.
    """

    LOOK = "look"
    BUDGET = "budget"
    LOST = "lost"
    BROKEN = "broken"
    CANCELLED = "cancelled"
    NOBODY_CAME = "nobody came"
    NOT_INTERLEAVED = "not interleaved"
    NOTHING = "nothing to measure"


class OverBudgetError(ValueError):
    """What is left of a budget does not pay for the first look."""

    def __init__(self, needed: "Cost", left: "Cost") -> None:
        self.needed = needed
        super().__init__(
            f"the first look needs {needed.launches} launches and {needed.card_s:.0f} "
            f"card-seconds, and {left.launches} and {left.card_s:.0f} are left tonight: "
            "raise the budget, or wait"
        )


@dataclass(frozen=True, slots=True)
class Cost:
    """Launches and card-seconds; the loading of weights is part of each launch."""

    launches: int
    card_s: float

    def plus(self, other: "Cost") -> "Cost":
        """Return both together."""
        return Cost(self.launches + other.launches, self.card_s + other.card_s)

    def covers(self, other: "Cost") -> bool:
        """Return whether this pays for another."""
        return self.launches >= other.launches and self.card_s >= other.card_s

    def less(self, spent: "Cost") -> "Cost":
        """Return what is left of it."""
        return Cost(max(self.launches - spent.launches, 0), max(self.card_s - spent.card_s, 0.0))

    def least(self, other: "Cost") -> "Cost":
        """Return what two budgets allow together."""
        return Cost(min(self.launches, other.launches), min(self.card_s, other.card_s))


# Of one night, and of one suspicion.
NIGHTLY = Cost(48, 16 * 3600.0)
EACH = Cost(14, 6 * 3600.0)
NOTHING_SPENT = Cost(0, 0.0)
# Launches that were lost or spoiled, and are measured once more.
SPARES = 3
# The confidence at which a change is still told from nothing without any one of its launches.
STANDS_AT = 0.99
# So many launches of one stack that break are no accident.
BROKEN_MAX = 2


@dataclass(frozen=True, slots=True)
class Budget:
    """What confirms may cost: all that began within 24 hours, and each event's.

    automatic: whether suspicions are confirmed without a person asking for it.
    """

    night: Cost = NIGHTLY
    each: Cost = EACH
    automatic: bool = True


@dataclass(frozen=True, slots=True)
class Suspect:
    """A series that an event lists: one metric of one cell.

    evidence: in standard errors. group: which server the cell needs, cells of one share a launch.
    start_s, measure_s: seconds of a launch until the server answers, and of the cell in it.
    change: that the screen saw, a ratio, positive is worse.
    """

    cell: Cell
    metric: str
    evidence: float
    group: str
    start_s: float
    measure_s: float
    cards: int
    change: float

    @property
    def regime(self) -> Regime:
        """What part of serving it speaks of."""
        return regime_of(self.metric)


@dataclass(frozen=True, slots=True)
class Design:
    """A confirm session as it is planned: cells, each with the metric that it is judged by.

    counts: launches of each arm at the planned looks. burn_in: launches of each arm that are
    thrown away first. each: card-seconds of one launch.
    """

    suspects: tuple[Suspect, ...]
    counts: tuple[int, ...]
    burn_in: int
    each: float

    @property
    def cost(self) -> Cost:
        """What it costs at most."""
        return _cost(self.counts[-1], self.burn_in, self.each)

    @property
    def confidence(self) -> float:
        """The confidence of each cell's looks, so that all cells together keep the whole."""
        return 1 - (1 - CONFIDENCE) / len(self.suspects)


def chosen(suspects: Sequence[Suspect]) -> tuple[Suspect, ...]:
    """Return the cells to measure again, the cheapest informative of each regime in turn.

    Two causes may come with one stack, one slow in prefill and the other in decode, so each regime
    that the event shows is measured again. One server's cells alone, for a second server would be a
    second start-up. How much a cell tells grows with the square of its evidence, as its launches
    needed fall with it. Of a regime a cell is judged by the one metric that showed most. Returns
    nothing for no suspects.
    """
    shown = _shown(suspects)
    strongest: dict[tuple[Cell, Regime], Suspect] = {}
    for each in sorted(suspects, key=_by_evidence):
        if each.regime in shown:
            strongest.setdefault((each.cell, each.regime), each)
    groups: dict[str, list[Suspect]] = {}
    for each in strongest.values():
        groups.setdefault(each.group, []).append(each)
    ranked = [_in_turn(group, shown) for group in groups.values()]
    return max(ranked, key=partial(_worth_of_group, shown=shown), default=())


def _shown(suspects: Sequence[Suspect]) -> Shown:
    """Return the regimes that an event shows: by more series than chance, and beyond tolerance.

    Where none does, the regime that most series are of.
    """
    of_regime: dict[Regime, list[Suspect]] = {}
    for each in suspects:
        of_regime.setdefault(each.regime, []).append(each)
    most = max(of_regime, key=lambda regime: len(of_regime[regime]), default=None)
    found = [
        regime
        for regime, listed in of_regime.items()
        if len(listed) >= SHOWN * len(suspects)
        and median(abs(each.change) / tolerance_of(each.metric) for each in listed) >= 1
    ]
    regimes = found or ([] if most is None else [most])
    return {regime: median(abs(each.change) for each in of_regime[regime]) for regime in regimes}


def _in_turn(group: Sequence[Suspect], shown: Shown) -> tuple[Suspect, ...]:
    """Return the best cells of one server, the regimes in turn."""
    ranked: dict[Regime, list[Suspect]] = {}
    for each in sorted(group, key=partial(_by_worth, shown=shown)):
        ranked.setdefault(each.regime, []).append(each)
    rounds = chain.from_iterable(zip_longest(*ranked.values()))
    return tuple(each for each in rounds if each is not None)[:CELLS_MAX]


def _worth(suspect: Suspect, shown: Shown) -> float:
    """Return how much a cell tells: the square of its evidence for the change that is usual.

    One that shows more than its regime does is mostly a noisy one, or had a bad run, and its
    evidence is of the same share.
    """
    usual, change = shown[suspect.regime], abs(suspect.change)
    return (suspect.evidence * min(1.0, usual / change if change else 1.0)) ** 2


def design(
    suspects: Sequence[Suspect], *, left: Cost, cold_caches: bool, counts: tuple[int, ...] = COUNTS
) -> Design:
    """Return the confirm session that what is left of a budget pays for.

    cold_caches: whether a first launch compiles or fills caches that the next ones find, so that it
    is thrown away. Later looks are left out before cells are; with fewer cells the first look may
    be affordable. Raises OverBudgetError.
    """
    cells = chosen(suspects)
    for used in range(len(cells), 0, -1):
        planned = Design(cells[:used], counts, int(cold_caches), _card_s(cells[:used]))
        for looks in range(len(counts), 0, -1):
            fewer = replace(planned, counts=counts[:looks])
            if left.covers(fewer.cost):
                return fewer
    first = _cost(counts[0], int(cold_caches), _card_s(cells[:1]))
    raise OverBudgetError(first, left)


def arms(planned: Design, draw: Draw) -> tuple[Arm, ...]:
    """Return the launches in order: burn-in first, then blocks of both arms, each at random.

    draw: a number from 0 to below what it is given.
    """
    burn_in = (Arm.BASELINE, Arm.CANDIDATE) * planned.burn_in
    blocks: list[Arm] = []
    for _ in range(planned.counts[-1]):
        first, second = Arm.BASELINE, Arm.CANDIDATE
        blocks += (first, second) if draw(2) == 0 else (second, first)
    return (*burn_in, *blocks)


def due_look(counts: Sequence[int], launches: int, *, seen: int) -> int | None:
    """Return the planned look that is due after so many launches of each arm, or None.

    seen: the launches at the last look; a look is taken once.
    """
    due = [count for count in counts if seen < count <= launches]
    return due[0] if due else None


def conclusion(outcomes: Mapping[Suspect, Outcome], *, is_last: bool) -> Outcome | None:
    """Return how a confirm ends at a look, or None where more launches are to tell.

    A regime is told as soon as one of its cells is regressed or improved, at its own confidence, or
    all are unchanged; the confirm ends once every regime is. What could not be judged, as where a
    stack broke, ends it with that word.
    """
    found = set(outcomes.values())
    if not is_last and found <= SAID and not _are_told(outcomes):
        return None
    for word in Outcome:
        if word in found and word not in {Outcome.INCONCLUSIVE, Outcome.UNCHANGED}:
            return word
    return Outcome.UNCHANGED if found == {Outcome.UNCHANGED} else Outcome.INCONCLUSIVE


def _are_told(outcomes: Mapping[Suspect, Outcome]) -> bool:
    """Return whether every regime is told."""
    regimes: dict[Regime, set[Outcome]] = {}
    for suspect, outcome in outcomes.items():
        regimes.setdefault(suspect.regime, set()).add(outcome)
    return all(
        found & {Outcome.REGRESSED, Outcome.IMPROVED} or found == {Outcome.UNCHANGED}
        for found in regimes.values()
    )


def settled(
    metric: Metric,
    outcome: Outcome,
    baseline: Launches,
    candidate: Launches,
    *,
    expected: Expected | None = None,
) -> Outcome:
    """Return the outcome of a cell at a look, or inconclusive where one launch alone decides it.

    One launch in thirty is bad for no reason that will come again, and few launches hold none or
    one. So what is called changed has to be told from nothing without any one of them as well.
    Too few launches to judge by ask for more. expected: the spread that history knows of.
    """
    if outcome is Outcome.INSUFFICIENT_BASELINE:
        return Outcome.INCONCLUSIVE
    if outcome not in {Outcome.REGRESSED, Outcome.IMPROVED}:
        return outcome
    is_worse = outcome is Outcome.REGRESSED
    stands = all(
        _is_told(metric, before, after, is_worse=is_worse, expected=expected)
        for before, after in _without_one(baseline, candidate)
    )
    return outcome if stands else Outcome.INCONCLUSIVE


def _is_told(
    metric: Metric,
    baseline: Launches,
    candidate: Launches,
    *,
    is_worse: bool,
    expected: Expected | None,
) -> bool:
    """Return whether a change of that direction is told from nothing."""
    try:
        found = change_of(baseline, candidate, confidence=STANDS_AT, expected=expected).interval
    except TooFewValuesError:
        return False
    bounds = metric.worsening(found.low), metric.worsening(found.high)
    return min(bounds) > 0 if is_worse else max(bounds) < 0


def _without_one(baseline: Launches, candidate: Launches) -> Iterator[tuple[Launches, Launches]]:
    """Yield both arms without each launch in turn, where its arm has another one."""
    for place in range(len(baseline) if len(baseline) > 1 else 0):
        yield [*baseline[:place], *baseline[place + 1 :]], candidate
    for place in range(len(candidate) if len(candidate) > 1 else 0):
        yield baseline, [*candidate[:place], *candidate[place + 1 :]]


def word_of(outcome: Outcome) -> Outcome:
    """Return how a confirm ends: with what the rule said, or as inconclusive where it did not."""
    return outcome if outcome in SAID else Outcome.INCONCLUSIVE


def _by_evidence(suspect: Suspect) -> tuple[float, str, str]:
    return (-abs(suspect.evidence), suspect.cell.condition_key, suspect.metric)


def _by_worth(suspect: Suspect, shown: Shown) -> tuple[float, str]:
    cost = max(suspect.measure_s * suspect.cards, 1.0)
    return (-_worth(suspect, shown) / cost, suspect.cell.condition_key)


def _worth_of_group(group: Sequence[Suspect], shown: Shown) -> tuple[int, float]:
    """Return how many regimes a server shows, and what the least told of them gets for its cost."""
    told: dict[Regime, float] = {}
    for each in group:
        told[each.regime] = told.get(each.regime, 0.0) + _worth(each, shown)
    return len(told), min(told.values(), default=0.0) / max(_card_s(group), 1.0)


def _card_s(cells: Sequence[Suspect]) -> float:
    """Return the card-seconds of one launch of some cells."""
    if not cells:
        return 0.0
    measure_s = sum({each.cell: each.measure_s for each in cells}.values())
    return (max(each.start_s for each in cells) + measure_s) * max(each.cards for each in cells)


def _cost(launches: int, burn_in: int, card_s: float) -> Cost:
    both = 2 * (launches + burn_in)
    return Cost(both, both * card_s)
