"""How many launches and repeats it takes to call a change, when the spread is known beforehand."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from service.stats.expected_change import HISTORY_FREEDOM, TAIL_FREEDOM
from service.stats.location import price
from service.stats.special import gammaincinv, ndtr, stdtrit
from service.stats.variance import Expected

# As many launches an arm, and repeats a launch, as are looked at.
LAUNCHES_MAX = 100
REPEATS_MAX = 20
# Fewest launches an arm: with one, a bad launch and a change look alike.
LAUNCHES_MIN = 2
# Enough equally likely values of the estimated spread for a power right in its third digit.
GRID = (np.arange(400) + 0.5) / 400


@dataclass(frozen=True, slots=True)
class Design:
    """Launches of each arm, and repeats in each launch."""

    launches: int
    repeats: int


@dataclass(frozen=True, slots=True)
class Time:
    """What a launch takes before its first repeat, and each repeat, in seconds."""

    start_s: float
    repeat_s: float

    def of(self, design: Design) -> float:
        """Return how long both arms of a design take, in seconds."""
        return 2 * design.launches * (self.start_s + design.repeats * self.repeat_s)


def power(
    expected: Expected, design: Design, *, tolerance: float, confidence: float = 0.95
) -> float:
    """Return the chance that equal arms are called unchanged: the whole interval within tolerance.

    A worsening of twice the tolerance is called regressed at least as often, for its estimate then
    lies as far beyond the tolerance as an equal arm's lies within. With standard error s, interval
    quantile t on f degrees of freedom and T the tolerance as a log change, it is the mean over
    w ~ chi-square(f) of

        max(0, 2 Phi((T - t s sqrt(w / f)) / s) - 1).

    tolerance: a ratio above 0.
    """
    error = standard_error(expected, design)
    within = math.log1p(tolerance)
    if error == 0:
        return 1.0
    history = min(expected.freedom, HISTORY_FREEDOM)
    freedom = history + 2 * design.launches - 2
    quantile = float(stdtrit(min(freedom, TAIL_FREEDOM * design.launches), (1 + confidence) / 2))
    estimated = error * _estimates(freedom)
    return float(np.maximum(0.0, 2 * ndtr((within - quantile * estimated) / error) - 1).mean())


@lru_cache(maxsize=LAUNCHES_MAX)
def _estimates(freedom: float) -> NDArray[np.float64]:
    """Return equally likely estimates of a standard deviation of one."""
    return np.asarray(np.sqrt(2 * gammaincinv(freedom / 2, GRID) / freedom))


def standard_error(expected: Expected, design: Design) -> float:
    """Return the standard error of the log change between two arms of a design.

    The effects of seeds are not in it: both arms have the same seeds.
    """
    parts = expected.components
    of_launch = parts.launch + parts.residual * price(design.repeats) / design.repeats
    return math.sqrt(2 * of_launch * price(design.launches) / design.launches)


@dataclass(frozen=True, slots=True)
class Goal:
    """What a design must reach.

    tolerance: a ratio above 0. power: between 0 and 1. min_repeats: fewest of an arm over all its
    launches. confidence: of the interval.
    """

    tolerance: float
    power: float = 0.8
    min_repeats: int = 1
    confidence: float = 0.95

    def is_reached(self, expected: Expected, design: Design) -> bool:
        """Return whether a design has the power and the repeats."""
        reached = power(expected, design, tolerance=self.tolerance, confidence=self.confidence)
        return reached >= self.power and design.launches * design.repeats >= self.min_repeats


def cheapest(expected: Expected, time: Time, goal: Goal) -> Design | None:
    """Return the design that reaches a goal in least time, or None where none does.

    Of two that take as long, the one with more launches.
    """
    able = (_fewest(expected, repeats, goal) for repeats in range(1, REPEATS_MAX + 1))
    return _least((design for design in able if design is not None), time)


def _least(designs: Iterable[Design], time: Time) -> Design | None:
    return min(designs, key=lambda design: (time.of(design), -design.launches), default=None)


def _fewest(expected: Expected, repeats: int, goal: Goal) -> Design | None:
    """Return the fewest launches that reach a goal; both its parts only grow with launches."""
    low, high = LAUNCHES_MIN, LAUNCHES_MAX + 1
    while low < high:
        middle = (low + high) // 2
        if goal.is_reached(expected, Design(middle, repeats)):
            high = middle
        else:
            low = middle + 1
    return Design(low, repeats) if low <= LAUNCHES_MAX else None
