"""Arms of readings: only what both sides tell can differ, and readings of one arm are repeats."""

from collections.abc import Mapping

import pytest

from service.domain.policy import Policy
from service.domain.reading import Reading
from service.domain.resolution import Fact
from service.domain.told import NoReadingsError, compare_readings
from service.domain.validity import RunFacts
from service.domain.verdict import Outcome

STEADY = (100.0, 101.0, 99.0, 100.0, 100.5)


def reading(
    value: float, condition: Mapping[str, Fact] | None = None, *, ttft_p50: float = 0.1
) -> Reading:
    return Reading(
        file="a.jsonl",
        line=1,
        tool="tool",
        tool_version=None,
        definition=1,
        condition={"concurrency": 8, **(condition or {})},
        metrics={"output_throughput": value},
        facts=RunFacts(ttft_p50=ttft_p50),
    )


def arm(*values: float, **condition: Fact) -> list[list[Reading]]:
    return [[reading(value, condition) for value in values]]


def test_readings_of_one_condition_are_judged() -> None:
    comparison = compare_readings(arm(*STEADY), arm(*STEADY), policy=Policy())

    assert comparison.outcome is Outcome.UNCHANGED
    assert comparison.warnings == ()


def test_a_field_that_both_tell_differently_is_refused() -> None:
    comparison = compare_readings(
        arm(*STEADY, tp=1), arm(*STEADY, tp=2, dtype="auto"), policy=Policy()
    )

    assert [str(each) for each in comparison.differences] == ["tp: 1 ≠ 2"]
    assert comparison.warnings == ("only one side tells dtype",)


def test_null_is_told_and_differs_from_a_value() -> None:
    comparison = compare_readings(arm(*STEADY, concurrency=None), arm(*STEADY), policy=Policy())

    assert [str(each) for each in comparison.differences] == ["concurrency: null ≠ 8"]


def test_an_arm_of_two_conditions_is_refused() -> None:
    mixed = [[*arm(100.0)[0], *arm(100.0, concurrency=16)[0]]]

    comparison = compare_readings(mixed, arm(*STEADY), policy=Policy())

    assert not comparison.comparable
    assert [each.field for each in comparison.differences] == ["concurrency within the baseline"]


def test_one_invalid_reading_spoils_its_arm_and_is_named() -> None:
    spoilt = [[*arm(*STEADY)[0], reading(100.0, ttft_p50=0.0)]]

    comparison = compare_readings(arm(*STEADY), spoilt, policy=Policy())

    assert comparison.outcome is Outcome.INVALID
    assert "ttft_zero in 1 of 6 results, first in a.jsonl:1" in comparison.verdicts[0].reason


@pytest.mark.parametrize("empty", [[], [[]]])
def test_an_arm_without_readings_is_no_arm(empty: list[list[Reading]]) -> None:
    with pytest.raises(NoReadingsError, match="the candidate has no readable result"):
        compare_readings(arm(*STEADY), empty, policy=Policy())
