"""The slope of values over time, told by the median of pairs, so that a few odd ones do not count.

Theil and Sen's estimator: the median of the slopes of all pairs of points, and Sen's interval by
Kendall's variance (Sen 1968), widened for neighbours that are alike.
"""

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from service.stats.interval import Interval

# Pairs grow with the square: longer stretches are first reduced to as many medians of pieces.
POINTS_MAX = 300
# Values that hardly ever change are as good as a few: more would widen the interval without end.
ALIKE_MAX = 0.95


def slope(times: Sequence[float], values: Sequence[float], *, confidence: float = 0.95) -> Interval:
    """Return how much values grow in one unit of time; 0.0 where all times are one.

    times: ascending, as many as values, and one at least. Neighbours that are alike, as samples of
    one second after another are, tell less than as many strangers: their number is reduced by how
    much each resembles the next.
    """
    at, level = (_reduced(np.asarray(each, dtype=np.float64)) for each in (times, values))
    first, second = np.triu_indices(len(at), k=1)
    apart = at[second] - at[first]
    told = apart > 0
    if not told.any():
        return Interval(0.0, 0.0, 0.0)
    slopes = np.sort((level[second] - level[first])[told] / apart[told])
    center = float(np.median(slopes))
    reach = _reach(len(at), _alike(level - center * at), confidence)
    low = max(math.floor((len(slopes) - reach) / 2), 0)
    high = min(math.ceil((len(slopes) + reach) / 2), len(slopes) - 1)
    return Interval(float(slopes[low]), center, float(slopes[high]))


def _reach(points: int, alike: float, confidence: float) -> float:
    """Return how many slopes lie within the interval, by Kendall's variance of their signs."""
    variance = points * (points - 1) * (2 * points + 5) / 18
    widened = variance * (1 + alike) / (1 - alike)
    return NormalDist().inv_cdf((1 + confidence) / 2) * math.sqrt(widened)


def _alike(rest: NDArray[np.float64]) -> float:
    """Return how much each value resembles the one after it, by ranks; nothing below 0 counts."""
    ranks = np.argsort(np.argsort(rest)).astype(np.float64)
    ranks -= ranks.mean()
    spread = float(ranks @ ranks)
    return min(max(float(ranks[1:] @ ranks[:-1]) / spread, 0.0), ALIKE_MAX) if spread else 0.0


def _reduced(values: NDArray[np.float64]) -> NDArray[np.float64]:
    if len(values) <= POINTS_MAX:
        return values
    pieces = np.array_split(values, POINTS_MAX)
    return np.asarray([np.median(piece) for piece in pieces], dtype=np.float64)
