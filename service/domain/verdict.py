"""The verdict on a change of one metric: the one rule, and the words for what it cannot judge."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from service.domain.metric import Better, Metric
from service.stats.change import (
    Change,
    TooFewValuesError,
    ValueNotPositiveError,
    change_of,
    level_of,
)
from service.stats.interval import Interval
from service.stats.variance import Expected

# The repeats of one metric, one inner sequence a launch.
Launches = Sequence[Sequence[float]]


class Outcome(StrEnum):
    """The one word for a metric of a cell; members stand in order of precedence over many.

    The rule says improved, unchanged, regressed or inconclusive. The others say why there was
    nothing for the rule to judge.
    """

    REGRESSED = "regressed"
    BROKEN = "broken"
    INVALID = "invalid"
    MISSING = "missing"
    NOT_COMPARABLE = "not comparable"
    INCONCLUSIVE = "inconclusive"
    INSUFFICIENT_BASELINE = "insufficient baseline"
    IMPROVED = "improved"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Terms:
    """What a verdict rests on beside the values.

    min_repeats: fewest repeats of the baseline, over all its launches, that are enough to judge
    by. confidence: of the interval. expected: the spread that history knows of; None where it
    knows nothing, and the values have to tell.
    """

    min_repeats: int = 5
    confidence: float = 0.95
    expected: Expected | None = None


USUAL = Terms()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is said of one metric: a word, the worsening it rests on, and why.

    worsening, tolerance, smallest_detectable: ratios; positive is worse for every metric.
    baseline, candidate: levels of both sides, whose ratio is the worsening's center, in the
    metric's base unit. What was not there or not estimated is None.
    """

    metric: str
    outcome: Outcome
    worsening: Interval | None
    tolerance: float
    reason: str
    smallest_detectable: float | None = None
    warnings: tuple[str, ...] = ()
    baseline: float | None = None
    candidate: float | None = None


REASONS = {
    Outcome.REGRESSED: (
        "the whole interval is worse than the baseline and its center is at or beyond the tolerance"
    ),
    Outcome.IMPROVED: (
        "the whole interval is better than the baseline and its center is at or beyond "
        "the tolerance; look for failures, short output or cache hits before believing it"
    ),
    Outcome.UNCHANGED: "the whole interval lies inside the tolerance",
    Outcome.INCONCLUSIVE: (
        "the interval is too wide or lies across a bound: more launches would tell"
    ),
}


def judge(metric: Metric, change: Interval, *, tolerance: float) -> Verdict:
    """Return the verdict on a change: where its interval and its center lie decides.

      improved: center here |                       | regressed: center here
      ──────────────────────┼───────────┼───────────┼──────────────────────▶ worse
                       -tolerance       0      +tolerance
      and the whole interval on that side of 0
                            |  unchanged: the whole |
                            |  interval in here     |

    Anything else is inconclusive: it asks for more launches. "Not significant" is not "unchanged".
    """
    bounds = sorted((metric.worsening(change.low), metric.worsening(change.high)))
    worsening = Interval(bounds[0], metric.worsening(change.center), bounds[1])
    outcome = _outcome(worsening, tolerance)
    return Verdict(metric.name, outcome, worsening, tolerance, REASONS[outcome])


def judge_samples(
    metric: Metric,
    baseline: Launches,
    candidate: Launches,
    *,
    tolerance: float,
    terms: Terms = USUAL,
) -> Verdict:
    """Return the verdict on two samples of one metric.

    baseline, candidate: the repeats of each launch, of the same seeds. Never raises on values:
    what cannot be judged is said in the verdict's word.
    """
    verdict = _judge_samples(metric, baseline, candidate, tolerance=tolerance, terms=terms)
    return replace(verdict, baseline=_level(baseline), candidate=_level(candidate))


def unjudged(metric: Metric, outcome: Outcome, reason: str, *, tolerance: float) -> Verdict:
    """Return a verdict for what the rule had nothing to judge by."""
    return Verdict(metric.name, outcome, None, tolerance, reason)


def foremost(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the outcome that speaks for many: the first of the precedence; missing for none."""
    present = set(outcomes) or {Outcome.MISSING}
    return next(outcome for outcome in Outcome if outcome in present)


def _judge_samples(
    metric: Metric,
    baseline: Launches,
    candidate: Launches,
    *,
    tolerance: float,
    terms: Terms,
) -> Verdict:
    measured = sum(len(launch) for launch in baseline)
    if not any(candidate):
        return unjudged(metric, Outcome.MISSING, "the candidate has no value", tolerance=tolerance)
    if measured < max(terms.min_repeats, 1):
        reason = f"the baseline has {measured} repeats and needs {terms.min_repeats}"
        return unjudged(metric, Outcome.INSUFFICIENT_BASELINE, reason, tolerance=tolerance)
    try:
        change = change_of(
            baseline, candidate, confidence=terms.confidence, expected=terms.expected
        )
    except TooFewValuesError as error:
        return unjudged(metric, Outcome.INSUFFICIENT_BASELINE, str(error), tolerance=tolerance)
    except ValueNotPositiveError as error:
        return unjudged(metric, Outcome.INVALID, str(error), tolerance=tolerance)
    return _judge_change(metric, change, tolerance)


def _level(launches: Launches) -> float | None:
    if not any(launches):
        return None
    try:
        return level_of(launches)
    except ValueNotPositiveError:
        return None


def _judge_change(metric: Metric, change: Change, tolerance: float) -> Verdict:
    detectable = change.smallest_detectable(tolerance, rise_is_worse=metric.better is Better.LOWER)
    return replace(
        judge(metric, change.interval, tolerance=tolerance),
        smallest_detectable=detectable,
        warnings=change.warnings,
    )


def _outcome(worsening: Interval, tolerance: float) -> Outcome:
    if worsening.low > 0 and worsening.center >= tolerance:
        return Outcome.REGRESSED
    if worsening.high < 0 and worsening.center <= -tolerance:
        return Outcome.IMPROVED
    if -tolerance <= worsening.low and worsening.high <= tolerance:
        return Outcome.UNCHANGED
    return Outcome.INCONCLUSIVE
