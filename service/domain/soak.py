"""What only a long load shows: memory that creeps up, and throughput that fades."""

from collections.abc import Sequence

from service.stats.trend import slope

# Shorter loads are mostly ramp and tail, and a slope over them tells nothing. Our choice.
SOAK_S = 1800.0
# Fewer points have no slope that one odd value could not make.
LEAST_POINTS = 10


def growth(times_s: Sequence[float], values: Sequence[float]) -> float | None:
    """Return by how much values grew from the first to the last time, by their slope.

    In the unit of the values; None for too few of them to tell.
    """
    if len(values) < LEAST_POINTS:
        return None
    return slope(times_s, values) * (times_s[-1] - times_s[0])


def relative_growth(times_s: Sequence[float], values: Sequence[float]) -> float | None:
    """Return by which ratio of their median values grew; None for too few, or a median of 0."""
    grown = growth(times_s, values)
    middle = sorted(values)[len(values) // 2] if values else 0.0
    return None if grown is None or not middle else grown / middle
