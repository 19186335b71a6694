"""What a stretch of history looks like: its level, its spread, and how long its luck lasts."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

# Rows of an array of levels, one stretch per column. NARROW and WIDE are the standard deviations
# of residuals clipped so, in scales; COUNT is how many runs the stretch has.
CENTER, SCALE, NARROW, WIDE, PERSISTENCE, COUNT = range(6)
FIELDS = 6

# A residual counts for at most this many scales: in the narrow reading no single run can alarm,
# in the wide one two runs far out can.
NARROW_CLIP = 1.75
WIDE_CLIP = 4.0
CLIPS = np.array([NARROW_CLIP, WIDE_CLIP]).reshape(2, 1, 1)
# Scales a median absolute deviation to one standard deviation of a normal sample:
# 1 / (the 0.75 quantile of the standard normal).
MAD_TO_SIGMA = 1.4826
# Values are rounded when they are written down: 0.15 % is the least spread believed.
LEAST_SCALE = 0.0015
# Residuals beyond this many scales are weighed down in the center (Huber's estimator, one step).
HUBER_BEND = 1.5
# The variance of clipped residuals is shrunk towards that of a normal sample, as if this many
# runs had shown it; 0.9 is that variance for the narrow clip, 1 for the wide one.
PRIOR_RUNS = 25
PRIOR_VARIANCES = np.array([[0.9], [1.0]])
# A lag-1 correlation from n runs is off by 1/sqrt(n): it is shrunk to 0 as by so many runs.
PERSISTENCE_RUNS = 30
MOST_PERSISTENCE = 0.7
# Values that are all alike have no squares to divide by, and no correlation.
SOMETHING = 1e-300


def levels_of(stretches: Floats) -> Floats:
    """Return the level of each stretch, one column each; the rows are named CENTER to COUNT.

    The scale is the larger of the median absolute deviation and that of the differences between
    neighbours (over sqrt 2): the first misses a mixture of two hosts in turn, the second a slow
    wander (Rousseeuw & Croux, "Alternatives to the Median Absolute Deviation", JASA 88, 1993).
    The center is one step of Huber's M-estimator from the median (Huber, "Robust Statistics",
    1981). What clipping leaves of the variance, and the lag-1 correlation, are shrunk.

    stretches: logarithms, one row per stretch, at least two columns, oldest first.
    """
    count = stretches.shape[1]
    middle = _middle(np.sort(stretches, axis=1))[:, None]
    distance = np.abs(stretches - middle)
    scale = _scale(stretches, distance)[:, None]
    weight = 1 / np.maximum(distance * (1 / HUBER_BEND / scale), 1.0)
    center = (np.vecdot(weight, stretches) / np.add.reduce(weight, axis=1))[:, None]
    residual = (stretches - center) / scale
    both = clipped(residual, CLIPS)
    squares = np.vecdot(both, both)
    together = np.vecdot(both[0, :, 1:], both[0, :, :-1])
    levels = np.empty((FIELDS, len(stretches)))
    levels[CENTER] = center[:, 0]
    levels[SCALE] = scale[:, 0]
    variances = (squares + PRIOR_RUNS * PRIOR_VARIANCES) / (count + PRIOR_RUNS)
    np.sqrt(variances, out=levels[NARROW : WIDE + 1])
    levels[PERSISTENCE] = persistence(squares[0], together, count)
    levels[COUNT] = count
    return levels


def clipped(residuals: Floats, most: float | Floats) -> Floats:
    """Return residuals held to at most that size (numpy's own clip costs several times this)."""
    return np.minimum(np.maximum(residuals, -most), most)


def persistence(squares: Floats, together: Floats, count: int) -> Floats:
    """Return the lag-1 correlation from sums of squares and of neighbours' products, shrunk.

    A negative one is taken as none: it would make a sum of runs more certain than chance does.
    """
    correlation = together / np.maximum(squares, SOMETHING)
    shrunk = correlation * (count / (count + PERSISTENCE_RUNS))
    return np.minimum(np.maximum(shrunk, 0.0), MOST_PERSISTENCE)


def _scale(stretches: Floats, distance: Floats) -> Floats:
    spread = _middle(np.sort(distance, axis=1))
    steps = _middle(np.sort(np.abs(stretches[:, 1:] - stretches[:, :-1]), axis=1))
    scale: Floats = np.maximum(np.maximum(spread, steps * (0.5**0.5)) * MAD_TO_SIGMA, LEAST_SCALE)
    return scale


def _middle(ordered: Floats) -> Floats:
    count = ordered.shape[1]
    if count % 2:
        return ordered[:, count // 2]
    return (ordered[:, count // 2 - 1] + ordered[:, count // 2]) * 0.5
