"""How often the judge is wrong over simulated nights and searches: `python -m tests.bench.judge`.

Nights drive the real screen and the pure rules of confirm over 500 cells whose launch shares the
judge has to estimate; searches drive the real attribution over stacks of which one component, or a
pair of them, is slow. Figures have exact 95 % bounds. Exit code 1 where a limit is missed.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.stats import chi2

from service.domain.cell import Cell
from service.domain.confirm import (
    NIGHTLY,
    Cost,
    OverBudgetError,
    Suspect,
    conclusion,
    design,
    settled,
)
from service.domain.event import Event
from service.domain.metric import Better, Metric, metric_named
from service.domain.screen import Watch, Watched, least_of, look, tolerance_of, watch
from service.domain.verdict import Outcome, Terms, judge_samples
from service.stats.location import location
from service.stats.sequential import Looks
from service.stats.variance import Expected
from tests.bench.attribution import (
    Noise,
    Random,
    bounds,
    noise_of,
    print_searches,
    say,
    searches,
    told,
)

CELLS, CELLS_A_LAUNCH = 500, 10
METRICS = ("ttft_p50", "tpot_p50")
WARM_NIGHTS, NIGHTS = 30, 20
# How much worse a cause makes its cells, in tolerances.
SIZES = (1.5, 3.0)
START_S, MEASURE_S = 300.0, 60.0


def main() -> int:
    """Print both tables and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nights", type=int, default=1000)
    parser.add_argument("--searches", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    held = []
    if asked.searches:
        held.append(print_searches(searches(np.random.default_rng(asked.seed), asked.searches)))
    if asked.nights:
        held.append(print_nights(nights(np.random.default_rng(asked.seed), asked.nights)))
    return 0 if all(held) else 1


@dataclass(frozen=True, slots=True)
class Slow:
    """One cause: the night it came, the cells it touches, and how much worse they are."""

    night: int
    cells: frozenset[int]
    tolerances: float


@dataclass
class Nights:
    """What became of simulated nights. caught: nights from cause to confirm, by its size."""

    nights: int = 0
    false: int = 0
    launches: int = 0
    extra: int = 0
    suspected: int = 0
    over_budget: int = 0
    causes: dict[float, int] = field(default_factory=lambda: dict.fromkeys(SIZES, 0))
    caught: dict[float, list[int]] = field(default_factory=lambda: {size: [] for size in SIZES})


def nights(random: Random, count: int) -> Nights:
    """Return what became of at least so many nights, in matrices of twenty nights each."""
    found = Nights()
    while found.nights < count:
        _matrix(random, found)
    return found


def _matrix(random: Random, found: Nights) -> None:
    noises = [noise_of(random) for _ in range(CELLS)]
    series = [
        Watched(str(place), METRICS[place % 2], Better.LOWER, least_of(METRICS[place % 2]))
        for place in range(CELLS)
    ]
    causes = _causes(random)
    open_causes = set(causes)
    for cause in causes:
        found.causes[cause.tolerances] += 1
    state: Watch = watch(series)
    for night in range(WARM_NIGHTS + NIGHTS):
        levels = _levels(causes, night)
        state, events = look(state, _values(random, noises, levels), changed=True)
        if night < WARM_NIGHTS:
            continue
        found.nights += 1
        found.launches += CELLS // CELLS_A_LAUNCH
        left = NIGHTLY
        for event in (event for event in events if event.worse):
            found.suspected += 1
            left = _confirm(random, found, event, noises, causes, open_causes, night, left)


def _confirm(
    random: Random,
    found: Nights,
    event: Event,
    noises: Sequence[Noise],
    causes: Sequence[Slow],
    open_causes: set[Slow],
    night: int,
    left: Cost,
) -> Cost:
    """Measure an event's cells again on both stacks, and return what is left of the budget."""
    before, after = _levels(causes, event.change_run - 1), _levels(causes, night)
    suspects = [_suspect(moved.series, moved.evidence) for moved in event.moved]
    try:
        planned = design(suspects, left=left, cold_caches=False)
    except OverBudgetError:
        found.over_budget += 1
        return left
    looks = Looks(planned.counts, planned.confidence)
    places = {suspect: int(suspect.cell.condition_key) for suspect in planned.suspects}
    most = planned.counts[-1]
    arms = {
        suspect: (
            noises[place].arm(random, most, float(before[place])),
            noises[place].arm(random, most, float(after[place])),
        )
        for suspect, place in places.items()
    }
    spent, word = most, Outcome.INCONCLUSIVE
    for count in planned.counts:
        outcomes = {
            suspect: _outcome(suspect, arms[suspect], count, noises[place].expected, looks)
            for suspect, place in places.items()
        }
        ended = conclusion(outcomes, is_last=count == most)
        if ended is not None:
            spent, word = count, ended
            break
    found.extra += 2 * spent
    if word is Outcome.REGRESSED:
        regressed = {
            suspect: places[suspect]
            for suspect, each in outcomes.items()
            if each is Outcome.REGRESSED
        }
        true = any(after[place] > before[place] for place in regressed.values())
        _settle(found, open_causes, regressed, night, true=true)
    return left.less(Cost(2 * spent, 2 * spent * planned.each))


def _outcome(
    suspect: Suspect,
    arms: tuple[Sequence[Sequence[float]], Sequence[Sequence[float]]],
    count: int,
    expected: Expected,
    looks: Looks,
) -> Outcome:
    metric: Metric = metric_named(suspect.metric)
    terms = Terms(1, looks.confidence_at(count), expected)
    tolerance = tolerance_of(suspect.metric)
    first, second = (arm[:count] for arm in arms)
    found = judge_samples(metric, first, second, tolerance=tolerance, terms=terms).outcome
    return settled(metric, found, first, second, expected=expected)


def _settle(
    found: Nights, open_causes: set[Slow], places: Mapping[Suspect, int], night: int, *, true: bool
) -> None:
    """Count a confirmed incident: a cause that is caught, one known already, or a false one."""
    if not true:
        found.false += 1
    for cause in [each for each in open_causes if each.night <= night]:
        if cause.cells & set(places.values()):
            found.caught[cause.tolerances].append(night - cause.night)
            open_causes.discard(cause)


def _suspect(series: str, evidence: float) -> Suspect:
    place = int(series)
    group = str(place // CELLS_A_LAUNCH)
    metric = METRICS[place % 2]
    return Suspect(Cell(series, ""), metric, evidence, group, START_S, MEASURE_S, 1)


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


def _values(random: Random, noises: Sequence[Noise], levels: np.ndarray) -> list[float | None]:
    """Return one night's values: the robust location of each cell's repeats."""
    return [
        float(np.exp(location(np.log(noise.arm(random, 1, each)[0]).tolist(), noise.residual)))
        for noise, each in zip(noises, levels.tolist(), strict=True)
    ]


def print_nights(found: Nights) -> bool:
    """Print how nights ended, and return whether they are within the limits."""
    false = rate_bound(found.false, found.nights)
    extra = 100 * found.extra / found.launches
    say(f"nights: {found.nights}, {found.suspected} suspicions, {found.over_budget} over budget")
    say(
        f"  false confirmed incidents in 100 nights {100 * found.false / found.nights:.2f}, "
        f"at most {100 * false:.2f} (95 %)  limit 2"
    )
    say(f"  extra launches in 100                   {extra:.1f}  limit 25")
    held = 100 * false <= 2 and extra <= 25
    for size, within, least in ((1.5, 3, 0.90), (3.0, 0, 0.95)):
        caught = sum(delay <= within for delay in found.caught[size])
        rate = bounds(caught, found.causes[size])
        when = f"{size} tolerances within {within} nights more"
        say(f"  {when:39} {told(rate)}  at least {least:.0%}")
        held &= rate.center >= least
    return held


def rate_bound(events: int, exposure: int) -> float:
    """Return the upper 95 % bound of a Poisson rate."""
    return float(chi2.ppf(0.95, 2 * (events + 1))) / 2 / exposure


if __name__ == "__main__":
    sys.exit(main())
