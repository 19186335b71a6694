"""The relative change between two arms, estimated from few launches of few repeats."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import chain
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from service.stats.expected_change import LUCK_FROM_HISTORY, Past, expected_change
from service.stats.interval import Interval
from service.stats.special import gammaincinv, ndtr, stdtrit
from service.stats.variance import Expected

# Spread below this is what rounding leaves of equal logarithms, not spread.
NO_SPREAD = 1e-12
# exp of more than this is no float any more; a change of this size needs no exact figure.
LARGEST_EXPONENT = 700.0
# Enough equally likely values of the spread for a power to be right in its third digit.
POWER_GRID = 400
BISECTIONS = 36

LAUNCH_LUCK_UNSEEN = (
    "one launch on each side: the interval comes from repeats, which share their launch's luck, "
    "so launch-to-launch spread is not in it"
)
NO_SPREAD_SEEN = "the values on each side are all equal, so their spread reads as zero"
UNEQUAL_REPEATS = "launches have unequal numbers of repeats, so the effects of seeds may not cancel"


class TooFewValuesError(ValueError):
    """The values leave nothing to estimate a spread from."""

    def __init__(self, baseline: int, candidate: int) -> None:
        super().__init__(
            f"a spread needs more than one value on one side, "
            f"got {baseline} of the baseline and {candidate} of the candidate"
        )


class ValueNotPositiveError(ValueError):
    """A value is zero, negative or not finite, so it has no logarithm."""

    def __init__(self, value: float) -> None:
        super().__init__(f"a relative change needs finite values above zero, got {value!r}")


class Unit(StrEnum):
    """What counted as one independent observation."""

    LAUNCH = "launch"
    REPEAT = "repeat"


@dataclass(frozen=True, slots=True)
class Change:
    """A relative change, (candidate - baseline) / baseline, and how well it is known.

    interval: ratios. counts: observations of each arm, in units. spread: standard error of the
    change on the log scale, with `freedom` degrees of freedom behind it. warnings: sentences.
    """

    interval: Interval
    unit: Unit
    counts: tuple[int, int]
    spread: float
    freedom: float
    confidence: float
    warnings: tuple[str, ...] = ()

    def smallest_detectable(
        self, tolerance: float, *, power: float = 0.8, rise_is_worse: bool = True
    ) -> float:
        """Return the smallest true worsening that the rule would call regressed with that power.

        The rule calls a worsening when the interval's lower bound is above 0 and its center at
        or above the tolerance. With true log change d, standard error s and f degrees of freedom
        the chance of that is the mean over w ~ chi-square(f) of

            P(Z > (max(L, t s sqrt(w / f)) - d) / s),

        Z standard normal, t the interval's quantile of Student's t, L the tolerance as a log
        change. This solves it for d by bisection. s is put in as if it were known; from a few
        launches it is rough, and so is the answer.

        tolerance: a ratio above 0. rise_is_worse: False for quantities that worsen by falling;
        a fall is below 1 whatever happens, a rise is not. Returns a ratio.
        """
        threshold = math.log1p(tolerance) if rise_is_worse else -math.log1p(-tolerance)
        worsening = self._smallest_log_change(threshold, power)
        return _expm1(worsening) if rise_is_worse else -math.expm1(-worsening)

    def _smallest_log_change(self, threshold: float, power: float) -> float:
        if self.spread <= NO_SPREAD:
            return threshold
        needed = np.maximum(threshold, _quantile(self) * self.spread * _estimates(self.freedom))
        low, high = 0.0, float(needed[-1]) + 10 * self.spread
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            # Twice as fast as mean(), and this is most of what a verdict costs.
            reached = float(np.add.reduce(ndtr((middle - needed) / self.spread))) / POWER_GRID
            low, high = (low, middle) if reached >= power else (middle, high)
        return high


def change_of(
    baseline: Sequence[Sequence[float]],
    candidate: Sequence[Sequence[float]],
    *,
    confidence: float = 0.95,
    expected: Expected | None = None,
    past: Past | None = None,
) -> Change:
    """Return the relative change from one arm to the other, with its interval.

    The unit is the launch: repeats of one launch share its luck (memory layout, tuning, page
    cache), so counting them as independent makes false alarms grow with every repeat. Every launch
    measures the same seeds, so the effect of a seed is in every mean alike and cancels in the
    difference: that is the pairing, and no seed needs to be told here.

    With an expected spread, from history or a prior, the interval is expected_change's. Without
    one, each launch becomes the mean of the logarithms of its repeats, and the interval is
    Student's t on the difference of the arms' means, with the spread pooled over both arms and
    k + m - 2 degrees of freedom. Pooled and not Welch's: with two launches an arm a variance has
    one degree of freedom, Welch's own estimate of its degrees of freedom then falls to between 1
    and 2 by chance, and the interval becomes several times wider without being more honest; two
    arms that differ in a stack alone have no reason to differ much in spread. With one launch on
    each side the repeats are then the unit, and a warning says what that misses.

    baseline, candidate: one sequence per launch, holding its repeats, all above zero. An empty
    launch counts for nothing. confidence: of the two-sided interval. past: needs expected.
    Raises TooFewValuesError with nothing to tell a spread by, ValueNotPositiveError.
    """
    logs = (_logs(baseline), _logs(candidate))
    if not all(logs):
        raise TooFewValuesError(*(sum(map(len, arm)) for arm in logs))
    if expected is None:
        return _by_its_own_spread(logs, confidence)
    found = expected_change(*logs, confidence=confidence, expected=expected, past=past)
    return Change(
        interval=Interval(_expm1(found.low), _expm1(found.center), _expm1(found.high)),
        unit=Unit.LAUNCH,
        counts=(len(logs[0]), len(logs[1])),
        spread=found.spread,
        freedom=found.freedom,
        confidence=confidence,
        warnings=tuple(_warnings(logs, Unit.LAUNCH, found.spread, from_history=True)),
    )


def _by_its_own_spread(
    logs: tuple[list[list[float]], list[list[float]]], confidence: float
) -> Change:
    unit, observed = _observations(*logs)
    freedom = sum(len(arm) for arm in observed) - 2
    if freedom < 1:
        raise TooFewValuesError(*(sum(map(len, arm)) for arm in logs))
    spread = _standard_error(*observed)
    center = fmean(observed[1]) - fmean(observed[0])
    reach = float(stdtrit(freedom, (1 + confidence) / 2)) * spread if spread > NO_SPREAD else 0.0
    return Change(
        interval=Interval(_expm1(center - reach), _expm1(center), _expm1(center + reach)),
        unit=unit,
        counts=(len(observed[0]), len(observed[1])),
        spread=spread,
        freedom=freedom,
        confidence=confidence,
        warnings=tuple(_warnings(logs, unit, spread)),
    )


def level_of(launches: Sequence[Sequence[float]]) -> float:
    """Return an arm's level: the geometric mean of its launches' geometric means, in their unit.

    The change of two arms is the ratio of their levels less one. launches: at least one value.
    Raises ValueNotPositiveError.
    """
    return math.exp(fmean(fmean(launch) for launch in _logs(launches)))


def _logs(launches: Sequence[Sequence[float]]) -> list[list[float]]:
    for value in (value for launch in launches for value in launch):
        if not (value > 0 and math.isfinite(value)):
            raise ValueNotPositiveError(value)
    return [[math.log(value) for value in launch] for launch in launches if launch]


def _observations(
    baseline: list[list[float]], candidate: list[list[float]]
) -> tuple[Unit, tuple[list[float], list[float]]]:
    if max(len(baseline), len(candidate)) > 1:
        means = ([fmean(launch) for launch in baseline], [fmean(launch) for launch in candidate])
        return Unit.LAUNCH, means
    return Unit.REPEAT, ([*chain(*baseline)], [*chain(*candidate)])


def _standard_error(baseline: list[float], candidate: list[float]) -> float:
    squares = 0.0
    for arm in (baseline, candidate):
        mean = fmean(arm)
        squares += sum((value - mean) ** 2 for value in arm)
    variance = squares / (len(baseline) + len(candidate) - 2)
    return math.sqrt(variance * (1 / len(baseline) + 1 / len(candidate)))


@lru_cache(maxsize=256)
def _estimates(freedom: float) -> NDArray[np.float64]:
    """Return equally likely estimates of a spread of 1; a thousand cells have a few freedoms."""
    levels = (np.arange(POWER_GRID) + 0.5) / POWER_GRID
    estimates: NDArray[np.float64] = np.sqrt(2 * gammaincinv(freedom / 2, levels) / freedom)
    return estimates


def _quantile(change: Change) -> float:
    return float(stdtrit(change.freedom, (1 + change.confidence) / 2))


def _expm1(value: float) -> float:
    return math.expm1(min(value, LARGEST_EXPONENT))


def _warnings(
    logs: tuple[list[list[float]], list[list[float]]],
    unit: Unit,
    spread: float,
    *,
    from_history: bool = False,
) -> list[str]:
    repeats = {len(launch) for arm in logs for launch in arm}
    alone = max(map(len, logs)) == 1
    return [
        sentence
        for sentence, applies in (
            (LAUNCH_LUCK_UNSEEN, unit is Unit.REPEAT),
            (LUCK_FROM_HISTORY, from_history and alone),
            (UNEQUAL_REPEATS, unit is Unit.LAUNCH and len(repeats) > 1),
            (NO_SPREAD_SEEN, spread <= NO_SPREAD),
        )
        if applies
    ]
