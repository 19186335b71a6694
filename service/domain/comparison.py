"""The comparison of two sides: refused, or one verdict a metric; the one door to the rule."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from service.domain.assumption import Assumed, Told
from service.domain.condition import Condition
from service.domain.difference import Difference, differences
from service.domain.metric import METRICS, Metric, Role
from service.domain.policy import Policy
from service.domain.protocol import Protocol
from service.domain.verdict import (
    Launches,
    Outcome,
    Terms,
    Verdict,
    foremost,
    judge_samples,
    unjudged,
)
from service.stats.variance import Expected


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a side may not be judged: the word for it, and a sentence."""

    outcome: Outcome
    reason: str


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two things compared.

    samples: by metric name, the repeats of each launch. obstacles: whatever forbids judging it,
    such as a failed gate, a broken layer or stack drift. withheld: by metric name, why a tail
    percentile is not offered. A condition or a protocol of which only a part is known is Told.
    """

    condition: Condition | Told
    protocol: Protocol | Told
    samples: Mapping[str, Launches] = field(default_factory=dict)
    obstacles: tuple[Obstacle, ...] = ()
    withheld: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What became of a comparison: one outcome for all, and one verdict a metric.

    differences: where it was refused, the fields that differ, or those that must be known and
    are not; the names of the latter are untold as well. assumed: what the verdicts rest on, said
    by whoever compares. warnings: sentences on the whole, which change nothing in it.
    """

    comparable: bool
    outcome: Outcome
    differences: tuple[Difference, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    warnings: tuple[str, ...] = ()
    untold: tuple[str, ...] = ()
    assumed: tuple[Assumed, ...] = ()


def compare(
    baseline: Side,
    candidate: Side,
    *,
    policy: Policy,
    metrics: Sequence[Metric] | None = None,
    untold: Sequence[Difference] = (),
    expected: Mapping[str, Expected] | None = None,
) -> Comparison:
    """Return the comparison of two sides.

    Unlike conditions or protocols are refused first, with every differing field named; then sides
    that may not be judged, with the reason, for nothing that is still to be told could change
    that; then sides of which too little is known; then each metric has its verdict by the one rule.

    metrics: what to judge; by default the judged metrics that either side has. untold: what must
    be known of both sides and is not. expected: by metric name, the spread that history knows of.
    """
    asked = _asked(baseline, candidate, metrics)
    if found := _unlike(baseline, candidate):
        reason = "; ".join(str(difference) for difference in found)
        return _refused(asked, found, reason, policy)
    if obstacles := _obstacles(baseline, candidate):
        outcome = foremost(obstacle.outcome for obstacle in obstacles)
        reason = "; ".join(dict.fromkeys(obstacle.reason for obstacle in obstacles))
        verdicts = _all(asked, outcome, reason, policy)
        return Comparison(comparable=True, outcome=outcome, verdicts=verdicts)
    if untold:
        names = tuple(each.field for each in untold)
        reason = f"the condition is incomplete: {', '.join(names)}"
        return replace(_refused(asked, tuple(untold), reason, policy), untold=names)
    verdicts = tuple(
        _judged(metric, baseline, candidate, policy, (expected or {}).get(metric.name))
        for metric in asked
    )
    return Comparison(
        comparable=True,
        outcome=foremost(verdict.outcome for verdict in verdicts),
        verdicts=verdicts,
    )


def _refused(
    asked: Sequence[Metric], found: tuple[Difference, ...], reason: str, policy: Policy
) -> Comparison:
    verdicts = _all(asked, Outcome.NOT_COMPARABLE, reason, policy)
    return Comparison(
        comparable=False, outcome=Outcome.NOT_COMPARABLE, differences=found, verdicts=verdicts
    )


def _unlike(baseline: Side, candidate: Side) -> tuple[Difference, ...]:
    # Both sides of a stored cell have the very same ones, and most comparisons are of those.
    if baseline.condition is candidate.condition and baseline.protocol is candidate.protocol:
        return ()
    return differences(baseline.condition, candidate.condition) + differences(
        {"protocol": baseline.protocol}, {"protocol": candidate.protocol}
    )


def _obstacles(baseline: Side, candidate: Side) -> tuple[Obstacle, ...]:
    return tuple(
        Obstacle(obstacle.outcome, f"{name}: {obstacle.reason}")
        for name, side in (("baseline", baseline), ("candidate", candidate))
        for obstacle in side.obstacles
    )


def _asked(baseline: Side, candidate: Side, metrics: Sequence[Metric] | None) -> tuple[Metric, ...]:
    if metrics is not None:
        return tuple(metrics)
    judged = tuple(metric for metric in METRICS.values() if metric.role is Role.JUDGED)
    present = baseline.samples.keys() | candidate.samples.keys()
    return tuple(metric for metric in judged if metric.name in present) or judged


def _all(
    metrics: Sequence[Metric], outcome: Outcome, reason: str, policy: Policy
) -> tuple[Verdict, ...]:
    return tuple(
        unjudged(metric, outcome, reason, tolerance=policy.tolerance_of(metric))
        for metric in metrics
    )


def _judged(
    metric: Metric, baseline: Side, candidate: Side, policy: Policy, expected: Expected | None
) -> Verdict:
    for name, side in (("baseline", baseline), ("candidate", candidate)):
        if reason := side.withheld.get(metric.name):
            tolerance = policy.tolerance_of(metric)
            return unjudged(metric, Outcome.INCONCLUSIVE, f"{name}: {reason}", tolerance=tolerance)
    return judge_samples(
        metric,
        baseline.samples.get(metric.name, ()),
        candidate.samples.get(metric.name, ()),
        tolerance=policy.tolerance_of(metric),
        terms=Terms(policy.min_repeats, policy.confidence, expected),
    )
