"""Variances of launch, seed and residual on the log scale: pooled from squares, drawn to a prior.

The model of a value in launch l with seed s is, on the log scale, level + launch + seed + residual.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

# Below that many degrees of freedom a variance is too rough to stand on its own.
ENOUGH_FREEDOM = 10.0
# What a prior is worth beside an estimate that has no degree of freedom at all.
PRIOR_FREEDOM = 4.0
# No session counts for more than so many times the middle one, where there are enough to tell.
FARTHEST_MEAN_SQUARE = 4.0
ENOUGH_SESSIONS = 5


class TooFewLaunchesError(ValueError):
    """No group has two launches, so nothing tells how much launches differ."""

    def __init__(self) -> None:
        super().__init__(
            "a launch variance needs at least two launches of one stack in one session: "
            "measure the plan with more launches"
        )


@dataclass(frozen=True, slots=True)
class Components:
    """Variances of the natural logarithm of a value: squares of roughly a ratio."""

    launch: float
    seed: float
    residual: float

    def of_launch_mean(self, repeats: float) -> float:
        """Return the variance of a launch's mean over the seeds that all launches share."""
        return self.launch + self.residual / repeats


@dataclass(frozen=True, slots=True)
class Reduction:
    """Squares that an effect takes away, on how many degrees of freedom.

    coefficient: how often the effect's variance is in the expectation of the squares; the
    residual's is in it once for each degree of freedom.
    """

    squares: float
    freedom: float
    coefficient: float


@dataclass(frozen=True, slots=True)
class Squares:
    """All that a session tells of the three variances; sessions are added term by term."""

    launch: Reduction
    seed: Reduction
    residual: Reduction


@dataclass(frozen=True, slots=True)
class Estimate:
    """Estimated components, each with the degrees of freedom behind it.

    residual_freedom is 0 where no launch repeats a seed beside another: the residual is then part
    of the launch.
    """

    components: Components
    launch_freedom: float
    seed_freedom: float
    residual_freedom: float


@dataclass(frozen=True, slots=True)
class Expected:
    """The spread a comparison may expect, and the degrees of freedom its launch part is worth."""

    components: Components
    freedom: float


def pooled(sessions: Sequence[Squares]) -> Estimate:
    """Return the components behind some sessions: each sum of squares set to its expectation.

    A component below zero is taken as zero. One session in twenty is wild for no reason that will
    come again, so no mean square counts for more than FARTHEST_MEAN_SQUARE times the middle one.
    Raises TooFewLaunchesError.
    """
    launch = _added(sessions, lambda squares: squares.launch)
    seed = _added(sessions, lambda squares: squares.seed)
    left = _added(sessions, lambda squares: squares.residual)
    if launch.freedom == 0:
        raise TooFewLaunchesError
    residual = left.squares / left.freedom if left.freedom else 0.0
    components = Components(_component(launch, residual), _component(seed, residual), residual)
    return Estimate(components, launch.freedom, seed.freedom, left.freedom)


def _added(sessions: Sequence[Squares], part: Callable[[Squares], Reduction]) -> Reduction:
    found = [each for each in map(part, sessions) if each.freedom]
    bound = (
        FARTHEST_MEAN_SQUARE * median(each.squares / each.freedom for each in found)
        if len(found) >= ENOUGH_SESSIONS
        else float("inf")
    )
    return Reduction(
        sum(min(each.squares, bound * each.freedom) for each in found),
        sum(each.freedom for each in found),
        sum(each.coefficient for each in found),
    )


def _component(effect: Reduction, residual: float) -> float:
    if effect.freedom == 0:
        return 0.0
    return max(0.0, (effect.squares - effect.freedom * residual) / effect.coefficient)


def shrunk(found: Estimate | None, prior: Components) -> Expected:
    """Return an estimate drawn towards a prior where it has fewer than about ten freedoms.

    The prior is worth PRIOR_FREEDOM degrees of freedom beside no estimate, ever fewer beside a
    better one, and none beside ENOUGH_FREEDOM; each component is the mean of the two weighted by
    their degrees of freedom, as a scaled inverse chi-square prior makes it.
    """
    if found is None:
        return Expected(prior, PRIOR_FREEDOM)
    own = found.components
    return Expected(
        Components(
            _drawn(own.launch, found.launch_freedom, prior.launch),
            _drawn(own.seed, found.seed_freedom, prior.seed),
            _drawn(own.residual, found.residual_freedom, prior.residual),
        ),
        found.launch_freedom + _prior_weight(found.launch_freedom),
    )


def _drawn(own: float, freedom: float, prior: float) -> float:
    weight = _prior_weight(freedom)
    return (freedom * own + weight * prior) / (freedom + weight)


def _prior_weight(freedom: float) -> float:
    return PRIOR_FREEDOM * max(0.0, 1 - freedom / ENOUGH_FREEDOM)
