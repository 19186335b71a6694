"""The slope of values over time, told by the median of pairs, so that a few odd ones do not count.

Theil and Sen's estimator: the median of the slopes of all pairs of points.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# Pairs grow with the square: longer stretches are first reduced to as many medians of pieces.
POINTS_MAX = 300


def slope(times: Sequence[float], values: Sequence[float]) -> float:
    """Return how much values grow in one unit of time; 0.0 where all times are one.

    times: ascending, as many as values, and one at least.
    """
    at, level = (_reduced(np.asarray(each, dtype=np.float64)) for each in (times, values))
    first, second = np.triu_indices(len(at), k=1)
    apart = at[second] - at[first]
    told = apart > 0
    if not told.any():
        return 0.0
    return float(np.median((level[second] - level[first])[told] / apart[told]))


def _reduced(values: NDArray[np.float64]) -> NDArray[np.float64]:
    if len(values) <= POINTS_MAX:
        return values
    pieces = np.array_split(values, POINTS_MAX)
    return np.asarray([np.median(piece) for piece in pieces], dtype=np.float64)
