"""The comparison: unlike sides are refused, every field named; then obstacles, then the rule."""

from dataclasses import replace

import pytest

from service.domain.comparison import Comparison, Obstacle, Side, compare
from service.domain.condition import (
    Cards,
    Condition,
    Load,
    Parallelism,
    Procedure,
    ServedModel,
    Traffic,
)
from service.domain.metric import METRICS
from service.domain.policy import Policy
from service.domain.protocol import Protocol
from service.domain.verdict import Outcome

CONDITION = Condition(
    cards=Cards("P800", "OAM", 1),
    parallelism=Parallelism(),
    model=ServedModel("tiny", "w", "none", "bfloat16", "auto"),
    traffic=Traffic(
        load=Load.CLOSED,
        dataset="random-ids",
        input_tokens=128,
        output_tokens=64,
        lengths="fixed",
        concurrency=8,
        rate=None,
        prompts=96,
        shared_prefix_tokens=0,
        seeds_digest="s",
        ignore_eos=True,
        temperature=0.0,
    ),
    procedure=Procedure("flushed", 8),
)
PROTOCOL = Protocol("sglang.bench_serving", "0.5.23", "t", 1)
STEADY = {"output_throughput": [[100.0, 101.0, 99.0], [100.5, 99.5, 100.0]]}
SLOWER = {"output_throughput": [[80.0, 81.0, 79.0], [80.5, 79.5, 80.0]]}
BASELINE = Side(CONDITION, PROTOCOL, STEADY)
CANDIDATE = Side(CONDITION, PROTOCOL, SLOWER)


def against(candidate: Side) -> Comparison:
    return compare(BASELINE, candidate, policy=Policy())


def test_like_sides_have_one_verdict_a_judged_metric() -> None:
    comparison = against(CANDIDATE)

    assert comparison.comparable
    assert comparison.outcome is Outcome.REGRESSED
    assert [verdict.metric for verdict in comparison.verdicts] == ["output_throughput"]
    assert comparison.differences == ()


def test_unlike_conditions_and_protocols_are_refused_with_every_field_named() -> None:
    other = replace(CONDITION, traffic=replace(CONDITION.traffic, concurrency=16, prompts=192))
    comparison = against(Side(other, replace(PROTOCOL, client_version="0.5.18"), SLOWER))

    assert not comparison.comparable
    assert comparison.outcome is Outcome.NOT_COMPARABLE
    assert [difference.field for difference in comparison.differences] == [
        "traffic.concurrency",
        "traffic.prompts",
        "protocol.client_version",
    ]
    assert {verdict.outcome for verdict in comparison.verdicts} == {Outcome.NOT_COMPARABLE}


@pytest.mark.parametrize(
    ("obstacle", "outcome"),
    [
        (Obstacle(Outcome.INVALID, "ttft_zero: …"), Outcome.INVALID),
        (Obstacle(Outcome.BROKEN, "broken at collectives"), Outcome.BROKEN),
    ],
)
def test_a_side_with_an_obstacle_is_not_judged(obstacle: Obstacle, outcome: Outcome) -> None:
    comparison = against(replace(CANDIDATE, obstacles=(obstacle,)))

    assert comparison.comparable
    assert comparison.outcome is outcome
    assert comparison.verdicts[0].reason == f"candidate: {obstacle.reason}"
    assert comparison.verdicts[0].worsening is None


def test_unlike_conditions_come_before_obstacles() -> None:
    other = replace(CONDITION, cards=Cards("P800", "OAM", 2))
    invalid = Side(other, PROTOCOL, SLOWER, (Obstacle(Outcome.INVALID, "ttft_zero"),))

    assert against(invalid).outcome is Outcome.NOT_COMPARABLE


def test_a_metric_that_only_the_baseline_has_is_missing() -> None:
    comparison = against(Side(CONDITION, PROTOCOL, {}))

    assert comparison.outcome is Outcome.MISSING


def test_only_the_metrics_asked_for_are_judged() -> None:
    comparison = compare(BASELINE, CANDIDATE, policy=Policy(), metrics=[METRICS["ttft_p99"]])

    assert [verdict.metric for verdict in comparison.verdicts] == ["ttft_p99"]
    assert comparison.outcome is Outcome.MISSING


def test_the_policy_sets_the_tolerance_and_the_least_repeats() -> None:
    policy = Policy(tolerances={"output_throughput": 0.5}, min_repeats=7)
    verdict = compare(BASELINE, CANDIDATE, policy=policy).verdicts[0]

    assert verdict.outcome is Outcome.INSUFFICIENT_BASELINE
    assert verdict.tolerance == 0.5
