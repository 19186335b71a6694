"""The log change between two arms whose launches' spread is known from history."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, harmonic_mean

from service.stats.location import location, price
from service.stats.special import stdtrit
from service.stats.variance import Expected

LUCK_FROM_HISTORY = (
    "one launch on each side: how much launches differ is taken from history alone, "
    "so a rare bad launch reads as a change"
)
# Beside a session's own launches, history is worth no more than that many degrees of freedom:
# within one session the session's spread counts.
HISTORY_FREEDOM = 10.0
# The mean of so few launches still has the heavy tails of one: 4 to 6 % of runs lie beyond five
# standard deviations. So no interval takes more degrees of freedom than this, a launch of the
# smaller arm. Set by simulation on the open half of the detection harness (see docs/comparison.md).
TAIL_FREEDOM = 6.0
# An interval drawn by the past also holds that of the two arms alone, at this share of its reach.
OWN_REACH = 0.5
# A launch further out than that many expected standard deviations adds no more to the spread.
FARTHEST = 3.0


@dataclass(frozen=True, slots=True)
class Past:
    """What history says of the baseline's level: a log value, and the variance it is known to."""

    level: float
    variance: float


@dataclass(frozen=True, slots=True)
class Centered:
    """A log change, its standard error, and the log bounds of its interval."""

    center: float
    spread: float
    freedom: float
    low: float
    high: float


def expected_change(
    baseline: Sequence[Sequence[float]],
    candidate: Sequence[Sequence[float]],
    *,
    confidence: float,
    expected: Expected,
    past: Past | None = None,
) -> Centered:
    """Return the change of two arms of at least one launch each.

    A launch's level is the robust location of its repeats, an arm's that of its launches' levels.
    The variance of a launch's level is the mean of what is expected and what the session shows,
    weighted by degrees of freedom:

        V = (h V0 + s V1) / (h + s),  V0 = launch + residual / repeats,  h at most HISTORY_FREEDOM,
        s = k + m - 2,  V1 the pooled variance within the arms,

    and the interval is center -/+ t sqrt(V (1/k + 1/m)), t with min(h + s, TAIL_FREEDOM min(k, m))
    degrees of freedom. past: draws the baseline's level to what history says of it, weighted by
    precision; the interval is then stretched to hold that of the two arms alone at OWN_REACH of its
    reach, so that an arm is never called changed against what was measured beside it.

    baseline, candidate: log values, one sequence a launch.
    """
    levels = [_levels(arm, expected) for arm in (baseline, candidate)]
    variance, freedom = _of_a_launch(
        levels, _expected_variance(baseline, candidate, expected), expected
    )
    sigma = math.sqrt(variance)
    before, after = (location(arm, sigma) for arm in levels)
    known = [variance * price(len(arm)) / len(arm) for arm in levels]
    freedom = min(freedom, TAIL_FREEDOM * min(map(len, levels)))
    quantile = float(stdtrit(freedom, (1 + confidence) / 2))
    own, own_reach = after - before, OWN_REACH * quantile * math.sqrt(sum(known))
    if past is not None:
        before, known[0] = _combined(before, known[0], past)
    spread = math.sqrt(sum(known))
    reach = quantile * spread
    center = after - before
    return Centered(
        center,
        spread,
        freedom,
        min(center - reach, own - own_reach),
        max(center + reach, own + own_reach),
    )


def _levels(arm: Sequence[Sequence[float]], expected: Expected) -> list[float]:
    within = expected.components.seed + expected.components.residual
    return [location(launch, math.sqrt(within)) for launch in arm]


def _expected_variance(
    baseline: Sequence[Sequence[float]], candidate: Sequence[Sequence[float]], expected: Expected
) -> float:
    repeats = harmonic_mean([len(launch) for arm in (baseline, candidate) for launch in arm])
    parts = expected.components
    return parts.launch + parts.residual * price(int(repeats)) / repeats


def _of_a_launch(
    levels: Sequence[Sequence[float]], variance: float, expected: Expected
) -> tuple[float, float]:
    """Return the variance of a launch's level, and its degrees of freedom."""
    history = min(expected.freedom, HISTORY_FREEDOM)
    seen = sum(map(len, levels)) - len(levels)
    farthest = FARTHEST * math.sqrt(variance)
    squares = sum(min(abs(level - fmean(arm)), farthest) ** 2 for arm in levels for level in arm)
    return (history * variance + squares) / (history + seen), history + seen


def _combined(level: float, variance: float, past: Past) -> tuple[float, float]:
    if variance == 0:
        return level, variance
    weights = 1 / variance, 1 / past.variance
    known = 1 / sum(weights)
    return known * (weights[0] * level + weights[1] * past.level), known
