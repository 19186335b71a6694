"""The comparison of two sides: refused, or one verdict a metric; the one door to the rule."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from service.domain.condition import Condition
from service.domain.difference import Difference, differences
from service.domain.metric import METRICS, Metric, Role
from service.domain.policy import Policy
from service.domain.protocol import Protocol
from service.domain.resolution import Fact
from service.domain.verdict import Launches, Outcome, Verdict, foremost, judge_samples, unjudged

# What a file tells of a condition or a protocol, where the whole of it is not known.
Told = Mapping[str, Fact]


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a side may not be judged: the word for it, and a sentence."""

    outcome: Outcome
    reason: str


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two things compared.

    samples: by metric name, the repeats of each launch. obstacles: whatever forbids judging it,
    such as a failed gate, a broken layer or stack drift.
    """

    condition: Condition | Told
    protocol: Protocol | Told
    samples: Mapping[str, Launches] = field(default_factory=dict)
    obstacles: tuple[Obstacle, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """What became of a comparison: one outcome for all, and one verdict a metric.

    warnings: sentences on the comparison as a whole, which change nothing in it.
    """

    comparable: bool
    outcome: Outcome
    differences: tuple[Difference, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    warnings: tuple[str, ...] = ()


def compare(
    baseline: Side,
    candidate: Side,
    *,
    policy: Policy,
    metrics: Sequence[Metric] | None = None,
) -> Comparison:
    """Return the comparison of two sides.

    Unlike conditions or protocols are refused first, with every differing field named; then sides
    that may not be judged, with the reason; then each metric has its verdict by the one rule.

    metrics: what to judge; by default the judged metrics that either side has.
    """
    asked = _asked(baseline, candidate, metrics)
    if found := _unlike(baseline, candidate):
        reason = "; ".join(str(difference) for difference in found)
        verdicts = _all(asked, Outcome.NOT_COMPARABLE, reason, policy)
        return Comparison(
            comparable=False, outcome=Outcome.NOT_COMPARABLE, differences=found, verdicts=verdicts
        )
    if obstacles := _obstacles(baseline, candidate):
        outcome = foremost(obstacle.outcome for obstacle in obstacles)
        reason = "; ".join(dict.fromkeys(obstacle.reason for obstacle in obstacles))
        verdicts = _all(asked, outcome, reason, policy)
        return Comparison(comparable=True, outcome=outcome, verdicts=verdicts)
    verdicts = tuple(_judged(metric, baseline, candidate, policy) for metric in asked)
    return Comparison(
        comparable=True,
        outcome=foremost(verdict.outcome for verdict in verdicts),
        verdicts=verdicts,
    )


def _unlike(baseline: Side, candidate: Side) -> tuple[Difference, ...]:
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


def _judged(metric: Metric, baseline: Side, candidate: Side, policy: Policy) -> Verdict:
    return judge_samples(
        metric,
        baseline.samples.get(metric.name, ()),
        candidate.samples.get(metric.name, ()),
        tolerance=policy.tolerance_of(metric),
        min_repeats=policy.min_repeats,
        confidence=policy.confidence,
    )
