"""Squares of a session's launches: what launches take away, what seeds do, and what is left.

Launches that share a level (one stack in one session) form a group; groups are never compared with
one another, so what differs from stack to stack or from day to day is in none of the squares.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from service.stats.variance import Estimate, Reduction, Squares, pooled

# The values of one launch, above zero, by their seed; and launches that share a level.
SeededLaunch = Mapping[int, float]
Group = Sequence[SeededLaunch]
Floats = NDArray[np.float64]

# Residuals beyond this many robust standard deviations are pulled in to it: 4 to 6 % of runs lie
# beyond five, and each would count for twenty-five.
CLIP = 3.0
CLIP_ROUNDS = 10
# A robust scale needs that many degrees of freedom to be worth clipping by.
CLIP_FREEDOM = 10
# 1 / (the 0.75 quantile of the standard normal): median absolute deviation to standard deviation.
MAD_TO_SIGMA = 1.4826
# As many patterns of launches and seeds as are remembered.
SPACES_KEPT = 32


def estimate(groups: Sequence[Group]) -> Estimate:
    """Return the components behind some groups of launches. Raises TooFewLaunchesError."""
    return pooled([squares_of(groups)])


def squares_of(groups: Sequence[Group]) -> Squares:
    """Return the squares of a session's groups, outlying residuals pulled in.

    Henderson's third method: the reduction in squares by launches after seeds, by seeds after
    launches, and what is left. For complete groups that is the two-way analysis of variance; for
    launches that lost repeats the components that follow from it are still unbiased
    (Searle, Casella & McCulloch, "Variance Components", 1992, chapter 5).
    A group of one launch tells nothing; without any other there is no degree of freedom.
    """
    designs = [_Design.of(group) for group in groups if len(group) > 1]
    found = [
        design.squares(values) for design, values in zip(designs, _clipped(designs), strict=True)
    ]
    return Squares(
        launch=_sum([each.launch for each in found]),
        seed=_sum([each.seed for each in found]),
        residual=_sum([each.residual for each in found]),
    )


def _sum(parts: Sequence[Reduction]) -> Reduction:
    return Reduction(
        sum(part.squares for part in parts),
        sum(part.freedom for part in parts),
        sum(part.coefficient for part in parts),
    )


@dataclass(frozen=True, slots=True)
class _Effect:
    """What an effect takes away: a projection, its freedom, its variance's part in the squares."""

    projection: Floats
    freedom: float
    coefficient: float

    @classmethod
    def of(cls, effect: Floats, *, after: Floats, left: Floats) -> "_Effect":
        """Return an effect. after: what the other effect leaves over; left: what both leave."""
        projection = after - left
        return cls(
            projection,
            round(float(np.trace(projection))),
            float(np.trace(effect.T @ after @ effect)),
        )

    def reduction(self, values: Floats) -> Reduction:
        return Reduction(_squares(values, self.projection), self.freedom, self.coefficient)


@dataclass(frozen=True, slots=True)
class _Spaces:
    """What launches take away after seeds, seeds after launches, and what both leave over."""

    launch: _Effect
    seed: _Effect
    left: Floats
    left_freedom: int


@lru_cache(maxsize=SPACES_KEPT)
def _spaces(launches: tuple[tuple[int, ...], ...]) -> _Spaces:
    """Return the spaces of launches that have these seeds: all cells of a session share them."""
    seeds = sorted({seed for launch in launches for seed in launch})
    rows = [(number, seed) for number, launch in enumerate(launches) for seed in launch]
    launched = np.zeros((len(rows), len(launches)))
    seeded = np.zeros((len(rows), len(seeds)))
    for row, (number, seed) in enumerate(rows):
        launched[row, number] = 1.0
        seeded[row, seeds.index(seed)] = 1.0
    left = _left_by(np.hstack([launched, seeded]))
    return _Spaces(
        launch=_Effect.of(launched, after=_left_by(seeded), left=left),
        seed=_Effect.of(seeded, after=_left_by(launched), left=left),
        left=left,
        left_freedom=round(float(np.trace(left))),
    )


@dataclass(frozen=True, slots=True)
class _Design:
    """One group: log values less their mean, and the spaces they lie in."""

    logs: Floats
    spaces: _Spaces

    @classmethod
    def of(cls, group: Group) -> "_Design":
        logs = np.array([math.log(value) for launch in group for value in launch.values()])
        return cls(logs - logs.mean(), _spaces(tuple(tuple(launch) for launch in group)))

    def residuals(self, values: Floats) -> Floats:
        return self.spaces.left @ values

    def squares(self, values: Floats) -> Squares:
        spaces = self.spaces
        left = Reduction(_squares(values, spaces.left), spaces.left_freedom, 0.0)
        return Squares(spaces.launch.reduction(values), spaces.seed.reduction(values), left)


def _squares(values: Floats, projection: Floats) -> float:
    """Return the squares of values within a space; rounding never makes them negative."""
    return max(0.0, float(values @ projection @ values))


def _left_by(space: Floats) -> Floats:
    """Return the projection onto all that a space does not span."""
    return np.eye(len(space)) - space @ np.linalg.pinv(space)


def _clipped(designs: Sequence[_Design]) -> list[Floats]:
    """Return every group's log values, outlying residuals pulled in to CLIP robust sigmas."""
    values = [design.logs for design in designs]
    freedom = sum(design.spaces.left_freedom for design in designs)
    if freedom < CLIP_FREEDOM:
        return values
    for _ in range(CLIP_ROUNDS):
        left = [design.residuals(y) for design, y in zip(designs, values, strict=True)]
        bound = CLIP * MAD_TO_SIGMA * float(np.median(np.abs(np.concatenate(left))))
        if bound == 0:
            return values
        values = [
            y - residuals + np.clip(residuals, -bound, bound)
            for y, residuals in zip(values, left, strict=True)
        ]
    return values
