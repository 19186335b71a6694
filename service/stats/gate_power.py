"""What a comparison of several looks comes to, when the spread is known beforehand."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from service.stats.expected_change import HISTORY_FREEDOM, TAIL_FREEDOM
from service.stats.location import price
from service.stats.special import stdtrit
from service.stats.variance import Expected

# Enough paths for a chance to be right within a point.
PATHS = 4000
# What the robust location of a few normal values really costs; price() is what intervals pay.
COST = 1.04

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Looked:
    """Launches of each arm at each look, and the confidence of the interval there."""

    counts: Sequence[int]
    confidences: Sequence[float]


@dataclass(frozen=True, slots=True)
class Chances:
    """How often the rule says a word at one of the looks, and how many launches an arm that takes.

    It stops at the first look that says regressed, improved or unchanged.
    """

    regressed: float
    improved: float
    unchanged: float
    launches: float


def chances(
    expected: Expected,
    looked: Looked,
    *,
    repeats: int,
    tolerance: float,
    worsening: float,
    seed: int,
) -> Chances:
    """Return what becomes of candidates that are worse by a ratio, by simulation of the means.

    The mean of a launch's repeats varies by launch + residual / repeats; differences of arms are
    those of growing means, and estimates of their variance those of growing sums of squares beside
    the history's degrees of freedom. tolerance: a ratio. seed: of the
    paths; the same question has the same answer.
    """
    parts = expected.components
    random = np.random.default_rng(seed)
    true = parts.launch + parts.residual * COST / repeats
    assumed = parts.launch + parts.residual * price(repeats) / repeats
    history = min(expected.freedom, HISTORY_FREEDOM)
    counts = np.asarray(looked.counts)
    gains = np.diff(counts, prepend=0)
    steps = random.normal(0, np.sqrt(2 * true * COST * gains), (PATHS, len(counts)))
    centers = np.log1p(worsening) + np.cumsum(steps, axis=1) / counts
    freedoms = history + 2 * counts - 2
    inner = np.diff(2 * counts - 2, prepend=0)
    squares = true * np.cumsum(random.chisquare(np.maximum(inner, 1e-9), centers.shape), axis=1)
    known = assumed * random.chisquare(history, (PATHS, 1))
    variances = (known + squares) / freedoms
    quantiles = stdtrit(
        np.minimum(freedoms, TAIL_FREEDOM * counts), (1 + np.asarray(looked.confidences)) / 2
    )
    paid = np.asarray([price(int(count)) for count in counts])
    reach = quantiles * np.sqrt(2 * variances * paid / counts)
    return _words(centers, reach, np.log1p(tolerance), counts)


def _words(centers: Values, reach: Values, within: float, counts: NDArray[np.int_]) -> Chances:
    worse = (centers - reach > 0) & (centers >= within)
    better = (centers + reach < 0) & (centers <= -within)
    same = (centers - reach >= -within) & (centers + reach <= within)
    said = worse | better | same
    ended = said.any(axis=1)
    first = np.where(ended, said.argmax(axis=1), len(counts) - 1)
    paths = np.arange(len(centers))
    return Chances(
        regressed=float(worse[paths, first].mean()),
        improved=float(better[paths, first].mean()),
        unchanged=float(same[paths, first].mean()),
        launches=float(counts[first].mean()),
    )
