"""Capacity: the highest measured load that keeps the limits a reader sets, and the cards it takes.

Nothing is interpolated and nothing is extrapolated: only loads that were measured are answered.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from service.domain.metric import Metric
from service.stats.interval import Interval


class Kept(StrEnum):
    """Whether a load keeps the limits: by the whole interval, or not at all certainly."""

    KEPT = "kept"
    UNSURE = "unsure"
    BROKEN = "broken"
    UNMEASURED = "unmeasured"


class Bound(StrEnum):
    """What stands above the highest load that keeps the limits."""

    BROKEN = "the next measured load breaks a limit"
    UNSURE = "of the next measured load it cannot be told"
    OPEN = "no higher load was measured"
    NOTHING = "no measured load certainly keeps the limits"


@dataclass(frozen=True, slots=True)
class Limit:
    """The most that a latency may be, in seconds."""

    metric: Metric
    most: float


@dataclass(frozen=True, slots=True)
class Load:
    """One measured load. amount: requests in flight, or per second. levels: by metric name."""

    amount: float
    levels: Mapping[str, Interval]


@dataclass(frozen=True, slots=True)
class Capacity:
    """The highest load up to which every measured one keeps the limits, or None."""

    load: Load | None
    bound: Bound


@dataclass(frozen=True, slots=True)
class CardsNeeded:
    """Cards for some traffic, in whole servers. most: None where the level has no lower bound."""

    expected: int
    most: int | None


def kept(load: Load, limits: Sequence[Limit]) -> Kept:
    """Return whether a load keeps all limits.

    Kept: the upper bound of each latency is within its limit; broken: one's estimate is beyond.
    """
    found = [load.levels.get(limit.metric.name) for limit in limits]
    told = [(level, limit.most) for level, limit in zip(found, limits, strict=True) if level]
    if any(level.center > most for level, most in told):
        return Kept.BROKEN
    if len(told) < len(limits):
        return Kept.UNMEASURED
    return Kept.KEPT if all(level.high <= most for level, most in told) else Kept.UNSURE


def capacity_of(loads: Sequence[Load], limits: Sequence[Limit]) -> Capacity:
    """Return the capacity of one server. loads: measured on one stack, host and workload.

    A load above one that breaks a limit does not count, however it was measured itself.
    """
    best: Load | None = None
    for load in sorted(loads, key=lambda each: each.amount):
        word = kept(load, limits)
        if word is not Kept.KEPT:
            above = Bound.BROKEN if word is Kept.BROKEN else Bound.UNSURE
            return Capacity(best, Bound.NOTHING if best is None else above)
        best = load
    return Capacity(best, Bound.NOTHING if best is None else Bound.OPEN)


def per_card(level: Interval, cards: int) -> Interval:
    """Return what one card of a server has of its throughput."""
    return Interval(level.low / cards, level.center / cards, level.high / cards)


def cards_for(traffic: float, server: Interval, *, cards: int) -> CardsNeeded:
    """Return how many cards serve some traffic, in as many equal servers as it takes.

    traffic, server: in the same unit; server: what one server of so many cards gives. That
    servers beside each other do not slow one another is taken for granted, and to be said.
    """
    expected = math.ceil(traffic / server.center) * cards
    most = math.ceil(traffic / server.low) * cards if server.low > 0 else None
    return CardsNeeded(expected, most)
