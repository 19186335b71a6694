"""Where some values lie, robustly, when their spread is known from elsewhere."""

from collections.abc import Sequence
from statistics import fmean, median

# A value beyond that many standard deviations counts no more than one that lies just there.
HUBER_BOUND = 1.5
HUBER_ROUNDS = 8
# Below that many values nothing tells which of them is the outlier.
ENOUGH_TO_TELL = 3
# Variance of the robust location over that of the mean, for normal values: 1 / 0.964 at a bound
# of 1.5 in the limit (Huber, "Robust Estimation of a Location Parameter", 1964), more for few.
PRICE = 1.1


def location(values: Sequence[float], sigma: float) -> float:
    """Return Huber's estimate of location: the median, improved by bounded steps.

    values: at least one. sigma: their standard deviation, above zero for any bounding.
    """
    if len(values) < ENOUGH_TO_TELL or sigma <= 0:
        return fmean(values)
    center, reach = median(values), HUBER_BOUND * sigma
    for _ in range(HUBER_ROUNDS):
        center += fmean(max(-reach, min(reach, value - center)) for value in values)
    return center


def price(count: int) -> float:
    """Return what location() multiplies the variance of a mean of that many values by."""
    return PRICE if count >= ENOUGH_TO_TELL else 1.0
