"""An interval with its center."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """Bounds of a quantity and the estimate between them, all three in the same unit."""

    low: float
    center: float
    high: float
