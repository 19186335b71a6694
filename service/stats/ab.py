"""Two launches, one an arm, judged with the past values of the baseline: up, down or neither."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

import numpy as np

from service.stats.change import Change, change_of
from service.stats.expected_change import Past
from service.stats.location import location
from service.stats.squares import MAD_TO_SIGMA
from service.stats.variance import Components, Expected

# The smallest change called where no tolerance is given, a ratio: throughput and time per token of
# one server repeat within 2 to 3 %.
PRACTICAL = 0.02
# As many of the newest past values as are looked at.
WINDOW = 80
# No timing repeats better than that, whatever rounding makes of it: a ratio.
FLOOR = 0.0015
# The share of runs in the tails, and the quantile of the standard normal that leaves it outside.
TAIL_QUANTILE = 0.9
TAIL_SIGMAS = 1.6449
# Share of the variance that all repeats of a launch have in common, before anything is seen, the
# degrees of freedom that guess is worth, and the least it is ever taken to be.
SHARE, SHARE_FREEDOM, SHARE_LEAST = 0.4, 20.0, 0.2
# Values beyond that many sigmas count as lying there where the share is estimated.
SHARE_CLIP = 2.5
# Standard deviation of the past level's wander from session to session, in sigmas.
WANDER = 0.1
# Variance of a median over that of a mean, for normal values: pi / 2.
MEDIAN_PRICE = 1.57


class TooShortHistoryError(ValueError):
    """The past holds too few values to say how much they scatter."""

    def __init__(self, count: int) -> None:
        super().__init__(f"history needs at least {LEAST} values, got {count}")


# Fewest past values.
LEAST = 5


class Direction(StrEnum):
    """Where a value went."""

    UP = "up"
    DOWN = "down"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Decision:
    """A direction, the change it rests on, and the launch's share of the variance that was used."""

    direction: Direction
    change: Change
    launch_share: float


def decide(
    base: Sequence[float],
    candidate: Sequence[float],
    history: Sequence[float],
    *,
    tolerance: float = PRACTICAL,
    confidence: float = 0.95,
) -> Decision:
    """Return whether a candidate launch moved from a baseline launch, by the one rule.

    base, candidate: the repeats of one launch each. history: one value for each past launch of
    the baseline, oldest first. All above zero. tolerance: the least change called, a ratio.
    Raises TooShortHistoryError, TooFewValuesError and ValueNotPositiveError.
    """
    if len(history) < LEAST:
        raise TooShortHistoryError(len(history))
    past = [math.log(value) for value in history[-WINDOW:]]
    arms = [[math.log(value) for value in arm] for arm in (base, candidate)]
    center, sigma, tail = _spread(past)
    share = launch_share(arms, past, sigma)
    change = change_of(
        [base],
        [candidate],
        confidence=confidence,
        expected=Expected(Components(share * tail**2, 0.0, (1 - share) * sigma**2), len(past) - 1),
        past=Past(center, sigma**2 * (MEDIAN_PRICE / len(past) + WANDER**2)),
    )
    return Decision(_direction(change, tolerance), change, share)


def launch_share(arms: Sequence[Sequence[float]], past: Sequence[float], sigma: float) -> float:
    """Return the share of the variance that the repeats of one launch have in common.

    Past values vary by launch and repeat together, repeats within a launch by repeat alone, so the
    share is one less the ratio of the two variances, both clipped alike; drawn to SHARE as if that
    had been seen on SHARE_FREEDOM degrees of freedom, for few repeats say little.
    """
    whole = _clipped_squares(past, sigma) / (len(past) - 1)
    freedom = sum(len(arm) - 1 for arm in arms)
    if freedom == 0 or whole == 0:
        return SHARE
    within = sum(_clipped_squares(arm, sigma) for arm in arms) / freedom
    share = (SHARE_FREEDOM * SHARE + freedom * (1 - within / whole)) / (SHARE_FREEDOM + freedom)
    return min(1.0, max(SHARE_LEAST, share))


def _clipped_squares(values: Sequence[float], sigma: float) -> float:
    center = location(values, sigma)
    bound = SHARE_CLIP * sigma
    return sum(min(abs(value - center), bound) ** 2 for value in values)


def _spread(past: Sequence[float]) -> tuple[float, float, float]:
    """Return the level of past values, their robust sigma, and the sigma their tails ask for."""
    middle = median(past)
    away = np.abs(np.asarray(past) - middle)
    sigma = max(MAD_TO_SIGMA * float(np.median(away)), FLOOR)
    tail = max(sigma, float(np.quantile(away, TAIL_QUANTILE)) / TAIL_SIGMAS)
    return location(past, sigma), sigma, tail


def _direction(change: Change, tolerance: float) -> Direction:
    interval = change.interval
    if interval.low > 0 and interval.center >= tolerance:
        return Direction.UP
    if interval.high < 0 and interval.center <= -tolerance:
        return Direction.DOWN
    return Direction.NONE
