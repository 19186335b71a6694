"""Scaling: how much faster several cards are than one, on one stack and in one workload."""

from dataclasses import dataclass

from service.domain.condition import Condition, Parallelism
from service.domain.metric import Better, Metric
from service.stats.interval import Interval


@dataclass(frozen=True, slots=True)
class Scaling:
    """Several cards against one. speedup: above 1 is faster, whichever way the metric improves.

    bounds: of the speedup; None where nothing tells a spread. efficiency: the speedup over the
    ratio of cards; 1 is perfect.
    """

    speedup: float
    efficiency: float
    bounds: Interval | None = None

    @property
    def slower(self) -> bool:
        """Whether several cards are slower than one; never said where nothing tells a spread."""
        return self.bounds is not None and self.bounds.high < 1


def is_on_one_card(condition: Condition) -> bool:
    """Return whether a condition is what the others are held against."""
    return condition.cards.count == 1 and condition.parallelism == Parallelism()


def scaling_of(change: Interval, *, cards: int, metric: Metric) -> Scaling:
    """Return the scaling of a change, (several - one) / one, on so many times as many cards.

    change: with bounds that are its center where nothing tells a spread.
    """
    ratios = [1 + each for each in (change.low, change.center, change.high)]
    if metric.better is Better.LOWER:
        ratios = [1 / each for each in reversed(ratios)]
    low, center, high = ratios
    bounds = None if low == high else Interval(low, center, high)
    return Scaling(center, center / cards, bounds)
