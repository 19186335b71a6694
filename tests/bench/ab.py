"""How often the rule is wrong on equal arms, and right on slower ones: `python -m tests.bench.ab`.

Noise is simulated as it is in stored histories: a launch's luck that all of its repeats share, and
one launch or repeat in twenty six times as far out as the others. Two launches and a past first,
then arms of several launches with and without history. Exit code 1 beyond the limits.
"""

import argparse
import math
import sys
from collections.abc import Sequence
from statistics import fmean

import numpy as np

from service.stats.ab import Direction, decide
from service.stats.change import change_of
from service.stats.interval import Interval
from service.stats.squares import squares_of
from service.stats.variance import Components, Expected, pooled, shrunk

PAST = 40
WILD, WILD_FACTOR = 0.05, 6.0
# Spreads of series: a median of 2 %, a tenth of them above 6 %.
MEDIAN_SPREAD, SPREAD_OF_SPREADS = 0.02, 0.85
TOLERANCE = 0.03
PRIOR = Components(0.015**2, 0.005**2, 0.015**2)
# Most equal launches told apart, by the launch's share, and fewest that are 10 % slower seen.
WRONG_MAX = {0.0: 0.03, 0.5: 0.10}
RIGHT_MIN = 0.60

Arm = list[list[float]]


def main() -> int:
    """Print both tables and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    random = np.random.default_rng(asked.seed)
    good = two_launches(random, asked.trials)
    several_launches(random, asked.trials)
    return 0 if good else 1


def two_launches(random: np.random.Generator, trials: int) -> bool:
    """Print how two launches and a past are judged, and return whether it is within the limits."""
    _say("two launches and a past\nshare  repeats  equal told apart  10 % slower seen")
    good = True
    for share in (0.0, 0.5):
        for repeats in (3, 5, 10):
            wrong, right = _two_launches(random, trials, share, repeats)
            good &= wrong <= WRONG_MAX[share] and right >= RIGHT_MIN
            _say(f"{share:5.1f}  {repeats:7}  {_percent(wrong, trials)}  {_percent(right, trials)}")
    return good


def several_launches(random: np.random.Generator, trials: int) -> None:
    """Print how arms of several launches are judged, by how many sessions history has."""
    _say("\narms of launches of three repeats, share 0.5, tolerance 3 %")
    _say("launches  sessions known  equal called changed  equal called unchanged  10 % slower seen")
    for launches in (1, 2, 3, 5, 10):
        for sessions in (0, 1, 5):
            if launches == 1 and sessions == 0:
                continue
            wrong, unchanged, right = _several(random, trials, launches, sessions)
            _say(
                f"{launches:8}  {sessions:14}  {_percent(wrong, trials):>20}  "
                f"{_percent(unchanged, trials):>22}  {_percent(right, trials):>16}"
            )


def _two_launches(
    random: np.random.Generator, trials: int, share: float, repeats: int
) -> tuple[float, float]:
    wrong, right = [], []
    for _ in range(trials):
        spread = _spread(random)
        past = [launch[0] for launch in _arm(random, spread, share, launches=PAST, repeats=1)]
        base, candidate = _arm(random, spread, share, launches=2, repeats=repeats)
        wrong.append(decide(base, candidate, past).direction is not Direction.NONE)
        slower = [1.1 * value for value in candidate]
        right.append(decide(base, slower, past).direction is Direction.UP)
    return fmean(wrong), fmean(right)


def _several(
    random: np.random.Generator, trials: int, launches: int, sessions: int
) -> tuple[float, float, float]:
    wrong, unchanged, right = [], [], []
    for _ in range(trials):
        spread = _spread(random)
        expected = _history(random, spread, sessions)
        base = _arm(random, spread, 0.5, launches=launches, repeats=3)
        candidate = _arm(random, spread, 0.5, launches=launches, repeats=3)
        found = change_of(base, candidate, expected=expected).interval
        wrong.append(_is_changed(found))
        unchanged.append(max(-found.low, found.high) <= TOLERANCE)
        slower = [[1.1 * value for value in launch] for launch in candidate]
        found = change_of(base, slower, expected=expected).interval
        right.append(found.low > 0 and found.center >= TOLERANCE)
    return fmean(wrong), fmean(unchanged), fmean(right)


def _history(random: np.random.Generator, spread: float, sessions: int) -> Expected | None:
    if sessions == 0:
        return None
    told = [
        squares_of(
            [
                [
                    dict(enumerate(launch))
                    for launch in _arm(random, spread, 0.5, launches=4, repeats=3)
                ]
            ]
        )
        for _ in range(sessions)
    ]
    return shrunk(pooled(told), PRIOR)


def _is_changed(found: Interval) -> bool:
    slower = found.low > 0 and found.center >= TOLERANCE
    return slower or (found.high < 0 and found.center <= -TOLERANCE)


def _arm(
    random: np.random.Generator, spread: float, share: float, *, launches: int, repeats: int
) -> Arm:
    return [
        [math.exp(luck + each) for each in _heavy(random, spread * math.sqrt(1 - share), repeats)]
        for luck in _heavy(random, spread * math.sqrt(share), launches)
    ]


def _heavy(random: np.random.Generator, spread: float, count: int) -> Sequence[float]:
    factor = np.where(random.random(count) < WILD, WILD_FACTOR, 1.0)
    return [float(value) for value in random.normal(0, spread, count) * factor]


def _spread(random: np.random.Generator) -> float:
    return MEDIAN_SPREAD * math.exp(random.normal(0, SPREAD_OF_SPREADS))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def _percent(share: float, trials: int) -> str:
    """Return a share of trials as percent, with the standard error that comes with their number."""
    error = math.sqrt(share * (1 - share) / trials)
    return f"{share:6.1%} ±{error:5.1%}"


if __name__ == "__main__":
    sys.exit(main())
