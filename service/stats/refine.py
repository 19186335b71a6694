"""Where within a stretch its level changed."""

import numpy as np

from service.stats.levels import Floats

# Runs before the earliest change point that is tried, and after the latest.
FEWEST_BEFORE = 3
FEWEST_AFTER = 2
# The loss grows as a square up to the bend, then straight, and not at all beyond the bound:
# one wild run may not draw the change point to itself.
BEND = 2.0
BOUND = 6.0


def change_index(values: Floats, scale: float, *, latest: int) -> int:
    """Return the index of the first value of the new level: the split that two medians fit best.

    Every split within the latest values is tried, and the earliest of the best is returned
    (two-level fit by least loss, with a bounded loss; compare Fearnhead & Rigaill, "Changepoint
    Detection in the Presence of Outliers", JASA 114, 2019).

    values: logarithms, oldest first, more than FEWEST_BEFORE + FEWEST_AFTER of them.
    scale: one standard deviation of a run. latest: how many values back a change may lie.
    """
    first = max(FEWEST_BEFORE, len(values) - 1 - latest)
    splits = range(first, len(values) - FEWEST_AFTER + 1)
    losses = [_loss(values[:split], scale) + _loss(values[split:], scale) for split in splits]
    return splits[int(np.argmin(np.round(losses, 9)))]


def _loss(values: Floats, scale: float) -> float:
    distance = np.abs(values - np.median(values)) / scale
    straight = BEND * BEND + np.minimum(distance, BOUND) - BEND
    return float(np.where(distance < BEND, distance * distance, straight).sum())
