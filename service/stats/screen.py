"""A scan for changes of level over many series at once, one new value of each at a time."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from service.stats.levels import (
    CENTER,
    CLIPS,
    COUNT,
    FIELDS,
    NARROW,
    PERSISTENCE,
    SCALE,
    WIDE,
    Floats,
    clipped,
    levels_of,
)
from service.stats.refine import change_index

# A change is looked for up to so many runs back, against up to so many runs before it.
LATEST = 20
WINDOW = 80
# A grown level is taken once in so many runs, and serves the changes that begin after it until the
# next: the few runs between are in neither part, and the cost is a quarter. A young level of fewer
# runs than GROWN is taken every time, for each run still tells.
EVERY = 4
GROWN = 20
KEPT = WINDOW + LATEST + EVERY - 1
# Fewer runs than this are no baseline.
FEWEST_RUNS = 8
# The evidence that alarms for one series watched alone: about 0.9 false alarms in 1,000 runs
# (measured on the open half of the detection suites, see docs/comparison.md).
ALONE = 3.82
# Two runs far out alarm at so many times the threshold.
WIDE_FACTOR = 1.4
# A short baseline knows its own spread badly, as Student's t has it: evidence is divided by
# 1 + this / runs.
SHORT_BASELINE = 2.0
# The level of n runs is known to a variance of 1.1/n: a median-like center is no mean.
CENTER_VARIANCE = 1.1
# So much of the runs since the change must lie on its side.
ON_ITS_SIDE = 0.7

_RUNS = np.arange(1, LATEST + 1, dtype=np.float64)
_RUNS_BETWEEN = _RUNS - 1
_OF_CENTER = CENTER_VARIANCE * _RUNS * _RUNS
# As arrays: turning a number into one costs as much as a product of twenty.
_SHORT_BASELINE = np.array([SHORT_BASELINE])
_FACTORS = np.array([1.0, WIDE_FACTOR]).reshape(2, 1, 1)
# No standard error is smaller than that of runs without correlation after a whole window; it is
# rounded down, to be so to the last bit.
_LEAST_ERROR = np.sqrt(_RUNS + _OF_CENTER / WINDOW) * (1 + SHORT_BASELINE / WINDOW) * (1 - 1e-9)
_LEAST_ERRORS = _FACTORS * _LEAST_ERROR
# Row k - 1 picks the newest k of the newest LATEST values.
NEWEST = np.tri(LATEST)[:, ::-1].copy()


@dataclass(frozen=True, slots=True)
class Screen:
    """All that is remembered of some series: arrays whose size does not grow with history.

    recent: the newest KEPT logarithms of each series, oldest first (zeros stand before a young
    series' values). age: how many runs belong to the present level. levels: column k - 1 holds the
    level of the runs before the newest k, not a number where those are too few. sums: for each
    clip, series and column k - 1, the clipped residuals of the newest k runs about that level.
    """

    recent: Floats
    age: Floats
    levels: Floats
    sums: Floats

    @property
    def count(self) -> int:
        """How many series there are."""
        return len(self.age)


@dataclass(frozen=True, slots=True)
class Step:
    """A change of level in one series.

    runs: how many runs lie at the new level, the newest included. shift: of the logarithm.
    evidence: in standard errors. scale: one standard deviation of a run, of the logarithm.
    """

    series: int
    runs: int
    shift: float
    evidence: float
    scale: float


def begin(count: int) -> Screen:
    """Return the screen of so many series that have no runs yet."""
    return Screen(
        recent=np.zeros((count, KEPT)),
        age=np.zeros(count),
        levels=np.full((FIELDS, count, LATEST), np.nan),
        sums=np.full((len(CLIPS), count, LATEST), np.nan),
    )


def threshold_for(together: int) -> float:
    """Return the evidence that alarms where so many series are screened together.

    The tail of the evidence falls about as exp(-z^2 / 2), so the chance that one of m series
    passes stays that of one when z^2 grows by 2 ln m (Bonferroni's bound).
    """
    return math.sqrt(ALONE * ALONE + 2 * math.log(max(together, 1)))


def advance(screen: Screen, values: Floats) -> Screen:
    """Return the screen with one more value of each series.

    values: logarithms, one per series; a series without one (not a number) stays as it was.
    """
    rows = np.flatnonzero(np.isfinite(values))
    if len(rows) == screen.count:
        return _advanced(screen, values)
    if len(rows) == 0:
        return screen
    return put(screen, rows, _advanced(take(screen, rows), values[rows]))


def take(screen: Screen, rows: Sequence[int] | np.ndarray) -> Screen:
    """Return the screen of some of the series, in that order."""
    return Screen(
        recent=screen.recent[rows],
        age=screen.age[rows],
        levels=screen.levels[:, rows],
        sums=screen.sums[:, rows],
    )


def put(screen: Screen, rows: Sequence[int] | np.ndarray, part: Screen) -> Screen:
    """Return the screen with some of its series replaced."""
    whole = Screen(
        recent=screen.recent.copy(),
        age=screen.age.copy(),
        levels=screen.levels.copy(),
        sums=screen.sums.copy(),
    )
    whole.recent[rows] = part.recent
    whole.age[rows] = part.age
    whole.levels[:, rows] = part.levels
    whole.sums[:, rows] = part.sums
    return whole


def evidence_of(screen: Screen) -> Floats:
    """Return the evidence for a change k runs ago in column k - 1: signed, in standard errors.

    For each k from 2 the newest k runs are held to the level of those before them. Residuals are
    clipped, summed, and divided by the standard error of that sum,

        sqrt(v (k (1 + 2 r (1 - 1/k)) + 1.1 k^2 / n (1 + 2 r))),

    v the variance of the clipped residuals of the n runs before, r their lag-1 correlation. The
    reading with the wide clip counts where, divided by WIDE_FACTOR, it says more.
    """
    close, far = screen.sums / (screen.levels[NARROW : WIDE + 1] * _FACTORS)
    found = np.where(np.abs(far) > np.abs(close), far, close)
    evidence: Floats = found / standard_error(screen.levels[PERSISTENCE], screen.levels[COUNT])
    # One run is never a change.
    evidence[:, 0] = 0.0
    return evidence


def within_reach(screen: Screen, *, threshold: float) -> bool:
    """Return whether any evidence may reach the threshold: False is certain, at a fifth the cost.

    It divides by the least standard error there can be instead of each one's own.
    """
    most = np.abs(screen.sums / (screen.levels[NARROW : WIDE + 1] * _LEAST_ERRORS))
    return bool(np.count_nonzero(most[:, :, 1:] >= threshold))


def steps_of(
    screen: Screen, evidence: Floats, *, threshold: float, least: Sequence[float]
) -> list[Step]:
    """Return the changes whose evidence reaches the threshold, at most one per series.

    least: the smallest shift of the logarithm that matters, per series.
    """
    reached = np.abs(evidence) >= threshold
    if not np.count_nonzero(reached):
        return []
    steps = (
        _step(screen, evidence[row], row, threshold=threshold, least=least[row])
        for row in np.flatnonzero(reached.any(axis=1)).tolist()
    )
    return [step for step in steps if step is not None]


def restarted(screen: Screen, steps: Sequence[Step]) -> Screen:
    """Return the screen with the series of these steps starting anew at their changes."""
    if not steps:
        return screen
    rows = [step.series for step in steps]
    ages = np.array([step.runs for step in steps], dtype=np.float64)
    return put(screen, rows, restored(screen.recent[rows], ages))


def restored(recent: Floats, age: Floats) -> Screen:
    """Return the screen of series from their newest values and the ages of their levels.

    These two are all that has to be stored: the levels follow from them.
    """
    unleveled = replace(begin(len(age)), recent=recent, age=age)
    columns = [_levels(unleveled, back) for back in range(1, LATEST + 1)]
    levels = np.stack(columns, axis=2)
    residual = _residual(recent[:, None, -LATEST:], levels[..., None])
    # Summed oldest first, as they are when they come one by one: so not even the last bit differs.
    sums = np.add.accumulate(clipped(residual, CLIPS[..., None]) * NEWEST, axis=-1)[..., -1]
    return replace(unleveled, levels=levels, sums=sums)


def _advanced(screen: Screen, values: Floats) -> Screen:
    levels = np.empty_like(screen.levels)
    levels[:, :, 1:] = screen.levels[:, :, :-1]
    levels[:, :, 0] = screen.levels[:, :, 0]
    between = _between(screen.age)
    waiting = np.count_nonzero(between)
    if waiting == 0:
        levels[:, :, 0] = _levels(screen, 0)
    elif waiting < screen.count:
        due = np.flatnonzero(between == 0)
        levels[:, due, 0] = _levels(take(screen, due), 0)
    recent = np.empty_like(screen.recent)
    recent[:, :-1] = screen.recent[:, 1:]
    recent[:, -1] = values
    sums = clipped(_residual(values[:, None], levels), CLIPS)
    sums[:, :, 1:] += screen.sums[:, :, :-1]
    return Screen(recent=recent, age=screen.age + 1, levels=levels, sums=sums)


def _residual(values: Floats, levels: Floats) -> Floats:
    """Return how far values lie from the centers of levels, in scales."""
    residual: Floats = (values - levels[CENTER]) / levels[SCALE]
    return residual


def _levels(screen: Screen, back: int) -> Floats:
    """Return the level taken last before the newest few runs of each series."""
    ages = screen.age - back
    between = _between(ages)
    counts = np.minimum(ages - between, WINDOW)
    ends = KEPT - back - between
    spans = {*zip(counts.tolist(), ends.tolist(), strict=True)}
    levels = np.full((FIELDS, screen.count), np.nan)
    for count, end in spans:
        if count >= FEWEST_RUNS:
            alike = slice(None) if len(spans) == 1 else (counts == count) & (ends == end)
            levels[:, alike] = levels_of(screen.recent[alike, int(end - count) : int(end)])
    return levels


def _between(ages: Floats) -> Floats:
    """Return how many runs ago the level was taken that serves a change at these ages."""
    between: Floats = ages % EVERY * (ages >= GROWN)
    return between


def standard_error(correlation: Floats, count: Floats) -> Floats:
    """Return that of a sum of k residuals of variance 1, for every k at once."""
    of_center = _OF_CENTER / count
    doubled = correlation + correlation
    error: Floats = np.sqrt(of_center + _RUNS + doubled * (of_center + _RUNS_BETWEEN))
    return error + error * (_SHORT_BASELINE / count)


def _step(
    screen: Screen, evidence: Floats, row: int, *, threshold: float, least: float
) -> Step | None:
    strength = np.nan_to_num(np.abs(evidence))
    recent = screen.recent[row]
    for column in np.argsort(-strength, kind="stable").tolist():
        if strength[column] < threshold:
            return None
        sign = math.copysign(1.0, evidence[column])
        rise = (recent[KEPT - column - 1 :] - screen.levels[CENTER, row, column]) * sign
        if np.median(rise) >= least and (rise > 0).mean() >= ON_ITS_SIDE:
            scale = float(screen.levels[SCALE, row, column])
            present = recent[-min(int(screen.age[row]), KEPT) :]
            return _refined(present, scale, row, float(evidence[column]), least)
    return None


def _refined(present: Floats, scale: float, row: int, evidence: float, least: float) -> Step | None:
    """Return the step at the most likely change point, unless nothing is left of it there."""
    index = change_index(present, scale, latest=LATEST)
    shift = float(np.median(present[index:]) - np.median(present[:index]))
    if shift * math.copysign(1.0, evidence) < least:
        return None
    return Step(row, len(present) - index, shift, evidence, scale)
