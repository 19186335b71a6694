"""The comparison: unlike sides are refused, every field named; then obstacles, then the rule."""

from dataclasses import replace

import pytest

from service.domain.assumption import NEEDED
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
from service.domain.difference import Difference
from service.domain.metric import METRICS
from service.domain.policy import Policy
from service.domain.protocol import Protocol
from service.domain.verdict import Outcome
from tests.one_field_apart import one_field_apart

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
# What a file's tool and its definition settle by themselves, and what is ours alone.
NOT_ASKED_OF_FILES = {
    "protocol.client",
    "protocol.metric_revision",
    "protocol.measuring_revision",
}
STEADY = {"output_throughput": [[100.0, 101.0, 99.0], [100.5, 99.5, 100.0]]}
SLOWER = {"output_throughput": [[80.0, 81.0, 79.0], [80.5, 79.5, 80.0]]}

CONDITIONS = dict(one_field_apart(CONDITION))
PROTOCOLS = dict(one_field_apart(PROTOCOL))
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


@pytest.mark.parametrize("name", CONDITIONS)
def test_two_conditions_that_differ_in_one_field_are_refused_and_it_is_named(name: str) -> None:
    other = CONDITIONS[name]
    comparison = against(Side(other, PROTOCOL, SLOWER))

    assert other.key != CONDITION.key
    assert comparison.outcome is Outcome.NOT_COMPARABLE
    assert [each.field.removesuffix(".added") for each in comparison.differences] == [name]
    assert name in comparison.verdicts[0].reason


@pytest.mark.parametrize("name", PROTOCOLS)
def test_two_protocols_that_differ_in_one_field_are_refused_and_it_is_named(name: str) -> None:
    other = PROTOCOLS[name]
    comparison = against(Side(CONDITION, other, SLOWER))

    assert other.key != PROTOCOL.key
    assert comparison.outcome is Outcome.NOT_COMPARABLE
    assert [each.field for each in comparison.differences] == [f"protocol.{name}"]


def test_every_field_of_condition_and_protocol_is_asked_of_files() -> None:
    every = CONDITIONS.keys() | {f"protocol.{name}" for name in PROTOCOLS}

    assert set(NEEDED.values()) == every - NOT_ASKED_OF_FILES


def test_what_must_be_known_and_is_not_is_refused_after_invalid_sides() -> None:
    untold = [Difference("weights", "(not told)", "(not told)")]
    invalid = replace(CANDIDATE, obstacles=(Obstacle(Outcome.INVALID, "ttft_zero"),))

    refused = compare(BASELINE, CANDIDATE, policy=Policy(), untold=untold)

    assert refused.outcome is Outcome.NOT_COMPARABLE
    assert refused.untold == ("weights",)
    assert refused.verdicts[0].reason == "the condition is incomplete: weights"
    assert compare(BASELINE, invalid, policy=Policy(), untold=untold).outcome is Outcome.INVALID


def test_a_tail_that_is_not_offered_is_inconclusive_for_its_reason() -> None:
    withheld = replace(CANDIDATE, withheld={"ttft_p99": "a p99 needs at least 299"})
    tail = METRICS["ttft_p99"]

    verdict = compare(BASELINE, withheld, policy=Policy(), metrics=[tail]).verdicts[0]

    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.reason == "candidate: a p99 needs at least 299"


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
