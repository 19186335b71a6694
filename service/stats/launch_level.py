"""The level that a few launches show, and the bounds between which it may lie."""

import math
from collections.abc import Sequence
from functools import cache

from service.stats.interval import Interval
from service.stats.special import stdtrit


def level_of(values: Sequence[float], *, confidence: float) -> Interval:
    """Return the geometric mean of one value a launch, with its interval by Student's t.

    Times and rates scatter by ratios, so their logarithms are what is averaged. One launch says
    nothing of how far another would be: its bounds are 0 and infinity.
    Raises ValueError for no value, or one that is not above zero.
    """
    if not values or min(values) <= 0:
        message = "a level needs at least one value, and all of them above zero"
        raise ValueError(message)
    logs = [math.log(value) for value in values]
    center = math.fsum(logs) / len(logs)
    if len(logs) == 1:
        return Interval(0.0, values[0], math.inf)
    freedom = len(logs) - 1
    # statistics.stdev reckons in fractions, and a page has thousands of levels.
    variance = math.fsum((log - center) ** 2 for log in logs) / freedom
    half = _quantile(freedom, (1 + confidence) / 2) * math.sqrt(variance / len(logs))
    return Interval(*(_back(each) for each in (center - half, center, center + half)))


@cache
def _quantile(freedom: int, share: float) -> float:
    """Return the quantile of Student's t below which a share of it lies."""
    return float(stdtrit(freedom, share))


def _back(log: float) -> float:
    try:
        return math.exp(log)
    except OverflowError:
        return math.inf
