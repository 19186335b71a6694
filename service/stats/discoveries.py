"""Which of many pieces of evidence hold, when a share of the list may be false."""

import numpy as np
from numpy.typing import NDArray

from service.stats.levels import Floats
from service.stats.special import ndtr


def discoveries(evidence: Floats, *, false_share: float) -> NDArray[np.bool_]:
    """Return which entries belong on a list of which at most that share is false on average.

    evidence: in standard errors, one-sided; not a number is never listed (Benjamini & Hochberg,
    "Controlling the False Discovery Rate", JRSS B 57, 1995; entries that lean the same way by
    chance keep the bound: Benjamini & Yekutieli, Annals of Statistics 29, 2001).
    """
    chance = np.where(np.isnan(evidence), 1.0, ndtr(-evidence))
    tried = len(chance)
    order = np.argsort(chance, kind="stable")
    allowed = false_share * np.arange(1, tried + 1) / max(tried, 1)
    held = np.flatnonzero(chance[order] <= allowed)
    listed = np.zeros(tried, dtype=np.bool_)
    if len(held):
        listed[order[: held[-1] + 1]] = True
    return listed
