"""How often the judge is wrong over simulated nights and searches: `python -m tests.bench.judge`.

Nights drive the real screen and the pure rules of confirm over 500 cells whose launch shares the
judge has to estimate; searches drive the real attribution over stacks of which one component, or a
pair of them, is slow. Figures have exact 95 % bounds. Exit code 1 where a limit is missed.
"""

import argparse
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.stats import chi2

from service.domain.cell import Cell
from service.domain.confirm import (
    NIGHTLY,
    TOLD,
    Cost,
    Design,
    OverBudgetError,
    Suspect,
    conclusion,
    design,
)
from service.domain.event import Event, Moved
from service.domain.metric import Better
from service.domain.regime import tolerance_of
from service.domain.screen import Watch, Watched, least_of, look, watch
from service.domain.verdict import Launches, Outcome
from service.stats import pool as rows_of
from service.stats import screen as scan
from service.stats.location import HUBER_BOUND, HUBER_ROUNDS
from service.stats.sequential import Looks
from tests.bench.attribution import (
    BAD_RUNS,
    REPEATS,
    Noise,
    Random,
    bad_run,
    bounds,
    noise_of,
    print_searches,
    say,
    searches,
    told,
)
from tests.bench.confirms import outcome_at

CELLS, CELLS_A_LAUNCH = 500, 10
METRICS = ("ttft_p50", "tpot_p50")
WARM_NIGHTS, NIGHTS = 30, 20
# How much worse a cause makes its cells, in tolerances; within how many nights after its first it
# is to be confirmed, and how often.
SIZES = (1.5, 3.0)
WITHIN, LEAST = {1.5: 3, 3.0: 0}, {1.5: 0.90, 3.0: 0.95}
# An incident lists a cause where it lists so much of its cells.
LISTED = 0.5
NOISES = ("launch", "residual")
START_S, MEASURE_S = 300.0, 60.0


def main() -> int:
    """Print both tables and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nights", type=int, default=1000)
    parser.add_argument("--searches", type=int, default=2000)
    parser.add_argument("--causes", type=int, default=0, help="so many of 3 tolerances, and more")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    held = []
    if asked.searches:
        held.append(print_searches(searches(np.random.default_rng(asked.seed), asked.searches)))
    if asked.nights:
        held.append(print_nights(nights(np.random.default_rng(asked.seed), asked.nights)))
    if asked.causes:
        say(f"nights up to the last cause, {asked.causes} causes of 3 tolerances or a few more")
        held.append(print_causes(focused(np.random.default_rng(asked.seed), asked.causes)))
    return 0 if all(held) else 1


@dataclass(frozen=True, slots=True)
class Slow:
    """One cause: the night it came, the cells it touches, and how much worse they are."""

    night: int
    cells: frozenset[int]
    tolerances: float


@dataclass
class Nights:
    """What became of simulated nights. caught: nights from cause to confirm, by its size.

    false: incidents of which no regressed cell moved; partly: of which one did not. listed: causes
    that an incident of their first night lists, confirmed in a cell of theirs or of another cause.
    """

    nights: int = 0
    false: int = 0
    partly: int = 0
    launches: int = 0
    extra: int = 0
    suspected: int = 0
    over_budget: int = 0
    causes: dict[float, int] = field(default_factory=lambda: dict.fromkeys(SIZES, 0))
    caught: dict[float, list[int]] = field(default_factory=lambda: {size: [] for size in SIZES})
    listed: dict[float, int] = field(default_factory=lambda: dict.fromkeys(SIZES, 0))


@dataclass(frozen=True, slots=True)
class Matrix:
    """The cells of one matrix, the causes that come to it, and those not caught yet."""

    noises: Sequence[Noise]
    causes: Sequence[Slow]
    uncaught: set[Slow]

    @classmethod
    def drawn(cls, random: Random) -> "Matrix":
        """Return a matrix with up to three causes in its nights."""
        causes = _causes(random)
        return cls([noise_of(random) for _ in range(CELLS)], causes, {*causes})

    def with_causes(self, causes: Sequence[Slow]) -> "Matrix":
        """Return the same cells with other causes."""
        return Matrix(self.noises, causes, {*causes})

    def levels(self, night: int) -> np.ndarray:
        """Return each cell's level in a night."""
        return _levels(self.causes, night)


def nights(random: Random, count: int) -> Nights:
    """Return what became of at least so many nights, in matrices of twenty nights each."""
    found = Nights()
    while found.nights < count:
        play(random, found, Matrix.drawn(random), last=WARM_NIGHTS + NIGHTS - 1)
    return found


def focused(random: Random, count: int) -> Nights:
    """Return what became of at least so many causes of the largest size.

    The same matrices as those of nights, without those that no such cause comes to and without the
    nights after the last that counts, which change nothing in what becomes of a cause.
    """
    found = Nights()
    while found.causes[SIZES[-1]] < count:
        matrix = Matrix.drawn(random)
        if any(cause.tolerances == SIZES[-1] for cause in matrix.causes):
            last = max(cause.night for cause in matrix.causes) + WITHIN[SIZES[0]]
            play(random, found, matrix, last=last)
    return found


def play(random: Random, found: Nights, matrix: Matrix, *, last: int) -> None:
    """Play the nights of a matrix up to the last, and count what became of them."""
    series = [
        Watched(str(place), METRICS[place % 2], Better.LOWER, least_of(METRICS[place % 2]))
        for place in range(CELLS)
    ]
    for cause in matrix.causes:
        found.causes[cause.tolerances] += 1
    values = _Values.of(matrix.noises)
    state = _warm(watch(series), random, values)
    for night in range(WARM_NIGHTS, last + 1):
        state, events = look(state, values.drawn(random, matrix.levels(night)), changed=True)
        found.nights += 1
        found.launches += CELLS // CELLS_A_LAUNCH
        left = NIGHTLY
        for event in (event for event in events if event.worse):
            found.suspected += 1
            left = _confirm(random, found, event, matrix, night, left)


def _warm(fresh: Watch, random: Random, values: "_Values") -> Watch:
    """Return a screen after its warm nights, put in at once as the service restores it."""
    if fresh.pool is None:
        raise AssertionError("so many series are pooled")
    logs = [np.log(values.drawn(random, np.ones(CELLS))) for _ in range(WARM_NIGHTS)]
    recent = np.hstack((fresh.screen.recent[:, WARM_NIGHTS:], np.transpose(logs)))
    ages = np.full(CELLS, float(WARM_NIGHTS))
    return replace(
        fresh,
        screen=scan.restored(recent, ages),
        pool=rows_of.restarted(replace(fresh.pool, recent=recent), WARM_NIGHTS),
        runs=WARM_NIGHTS,
    )


def _confirm(
    random: Random, found: Nights, event: Event, matrix: Matrix, night: int, left: Cost
) -> Cost:
    """Measure an event's cells again on both stacks, and return what is left of the budget."""
    before, after = matrix.levels(event.change_run - 1), matrix.levels(night)
    try:
        planned = design([_suspect(each) for each in event.moved], left=left, cold_caches=False)
    except OverBudgetError:
        found.over_budget += 1
        return left
    most = planned.counts[-1]
    arms = {
        suspect: [
            matrix.noises[_place(suspect)].arm(random, most, float(levels[_place(suspect)]))
            for levels in (before, after)
        ]
        for suspect in planned.suspects
    }
    spent, word, outcomes = _looked(planned, arms, matrix.noises)
    found.extra += 2 * spent
    if word is Outcome.REGRESSED:
        regressed = {_place(each) for each, of in outcomes.items() if of is Outcome.REGRESSED}
        moved = [bool(after[place] > before[place]) for place in regressed]
        found.false += not any(moved)
        found.partly += any(moved) and not all(moved)
        _settle(found, matrix, event, regressed, night)
    return left.less(Cost(2 * spent, 2 * spent * planned.each))


def _looked(
    planned: Design, arms: Mapping[Suspect, Sequence[Launches]], noises: Sequence[Noise]
) -> tuple[int, Outcome, Mapping[Suspect, Outcome]]:
    """Return after how many launches a confirm ended, with which word, and that of each cell."""
    looks = Looks(planned.counts, planned.confidence)
    outcomes: dict[Suspect, Outcome] = {}
    for count in planned.counts:
        for suspect in planned.suspects:
            if outcomes.get(suspect) not in TOLD:
                expected = noises[_place(suspect)].expected
                outcomes[suspect] = outcome_at(suspect, arms[suspect], count, expected, looks)
        ended = conclusion(outcomes, is_last=count == planned.counts[-1])
        if ended is not None:
            return count, ended, outcomes
    raise AssertionError("the last look ends it")


def _settle(
    found: Nights, matrix: Matrix, event: Event, regressed: Collection[int], night: int
) -> None:
    """Count the causes that a confirmed incident is of."""
    listed = {int(each.series) for each in event.moved}
    for cause in [each for each in matrix.uncaught if each.night <= night]:
        is_caught = not cause.cells.isdisjoint(regressed)
        is_first = cause.night == night
        found.listed[cause.tolerances] += is_first and (
            is_caught or len(cause.cells & listed) >= len(cause.cells) * LISTED
        )
        if is_caught:
            found.caught[cause.tolerances].append(night - cause.night)
            matrix.uncaught.discard(cause)


def _place(suspect: Suspect) -> int:
    return int(suspect.cell.condition_key)


def _suspect(moved: Moved) -> Suspect:
    place = int(moved.series)
    group = str(place // CELLS_A_LAUNCH)
    metric = METRICS[place % 2]
    cell = Cell(moved.series, "")
    return Suspect(cell, metric, moved.evidence, group, START_S, MEASURE_S, 1, abs(moved.change))


def _causes(random: Random) -> list[Slow]:
    """Return up to three causes, each in at least a third of the cells of one regime."""
    found = []
    for _ in range(int(random.integers(0, 4))):
        regime = np.arange(int(random.integers(2)), CELLS, 2)
        share = random.uniform(1 / 3, 1)
        cells = random.choice(regime, int(np.ceil(share * len(regime))), replace=False)
        night = int(random.integers(WARM_NIGHTS, WARM_NIGHTS + NIGHTS - 3))
        found.append(Slow(night, frozenset(cells.tolist()), float(random.choice(SIZES))))
    return found


def _levels(causes: Sequence[Slow], night: int) -> np.ndarray:
    levels = np.ones(CELLS)
    for cause in causes:
        if cause.night <= night:
            cells = np.asarray(sorted(cause.cells))
            tolerances = np.asarray([tolerance_of(METRICS[place % 2]) for place in cells])
            levels[cells] *= 1 + cause.tolerances * tolerances
    return levels


@dataclass(frozen=True, slots=True)
class _Values:
    """The noise of all cells at once, a row each: one by one takes ten times as long."""

    launch: np.ndarray
    residual: np.ndarray

    @classmethod
    def of(cls, noises: Sequence[Noise]) -> "_Values":
        launch, residual = ([getattr(each, name) for each in noises] for name in NOISES)
        return cls(np.asarray(launch)[:, None], np.asarray(residual)[:, None])

    def drawn(self, random: Random, levels: np.ndarray) -> list[float]:
        """Return one night's values: the robust location of each cell's repeats."""
        one, each = (len(levels), 1), (len(levels), REPEATS)
        values = np.log(levels)[:, None] + random.normal(0, self.launch, one)
        values = values + random.normal(0, self.residual, each)
        values += np.where(random.random(one) < BAD_RUNS, bad_run(random, one), 0)
        found: list[float] = np.exp(locations(values, self.residual)).tolist()
        return found


def locations(values: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    """Return what stats/location.py says of each row of values."""
    center, reach = np.median(values, axis=1, keepdims=True), HUBER_BOUND * sigma
    for _ in range(HUBER_ROUNDS):
        center = center + np.clip(values - center, -reach, reach).mean(axis=1, keepdims=True)
    found: np.ndarray = center[:, 0]
    return found


def print_nights(found: Nights) -> bool:
    """Print how nights ended, and return whether they are within the limits."""
    false = rate_bound(found.false, found.nights)
    extra = 100 * found.extra / found.launches
    say(f"nights: {found.nights}, {found.suspected} suspicions, {found.over_budget} over budget")
    say(
        f"  false confirmed incidents in 100 nights {100 * found.false / found.nights:.2f}, "
        f"at most {100 * false:.2f} (95 %)  limit 2"
    )
    say(f"  true ones with a cell that did not move {found.partly}")
    say(f"  extra launches in 100                   {extra:.1f}  limit 25")
    return print_causes(found) and 100 * false <= 2 and extra <= 25


def print_causes(found: Nights) -> bool:
    """Print how many causes were confirmed in time, and return whether those are enough."""
    held = True
    for size, within in WITHIN.items():
        if not found.causes[size]:
            continue
        caught = sum(delay <= within for delay in found.caught[size])
        rate = bounds(caught, found.causes[size])
        when = f"{size} tolerances within {within} nights more"
        say(f"  {when:39} {told(rate)} of {found.causes[size]}  at least {LEAST[size]:.0%}")
        listed = bounds(found.listed[size], found.causes[size])
        say(f"    the same night at least listed        {told(listed)}")
        held &= rate.center >= LEAST[size]
    return held


def rate_bound(events: int, exposure: int) -> float:
    """Return the upper 95 % bound of a Poisson rate."""
    return float(chi2.ppf(0.95, 2 * (events + 1))) / 2 / exposure


if __name__ == "__main__":
    sys.exit(main())
