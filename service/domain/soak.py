"""What only a long load shows: memory that creeps up, and throughput that fades."""

from collections.abc import Sequence
from typing import TypeAlias

from service.stats.interval import Interval
from service.stats.trend import slope

# Shorter loads are mostly ramp and tail, and a slope over them tells nothing. Our choice.
SOAK_S = 1800.0
# By how much something grew, and the bounds of that.
Growth: TypeAlias = Interval
# Fewer points have no slope that one odd value could not make.
LEAST_POINTS = 10


def growth(times_s: Sequence[float], values: Sequence[float]) -> Growth | None:
    """Return by how much values grew from the first to the last time, by their slope.

    In the unit of the values; None for too few of them to tell.
    """
    if len(values) < LEAST_POINTS:
        return None
    return scaled(slope(times_s, values), times_s[-1] - times_s[0])


def relative_growth(times_s: Sequence[float], values: Sequence[float]) -> Growth | None:
    """Return by which ratio of their median values grew; None for too few, or a median of 0."""
    grown = growth(times_s, values)
    middle = sorted(values)[len(values) // 2] if values else 0.0
    return None if grown is None or middle <= 0 else scaled(grown, 1 / middle)


def scaled(interval: Growth, by: float) -> Growth:
    """Return an interval in another unit. by: 0 or more."""
    return Growth(interval.low * by, interval.center * by, interval.high * by)


def shown(interval: Growth) -> str:
    """Return a growth in words, with its bounds."""
    return f"{interval.center:+.3f} ({interval.low:+.3f} to {interval.high:+.3f})"
