"""Arms of readings: what both tell may differ, what they do not tell must be assumed or refuses."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from service.domain.assumption import (
    NEEDED,
    Assumed,
    Assumptions,
    OverruledError,
    WrongValueError,
)
from service.domain.comparison import Comparison
from service.domain.gates import check
from service.domain.metric import METRICS
from service.domain.policy import Policy
from service.domain.reading import Reading
from service.domain.resolution import Fact, Resolution
from service.domain.told import Arm, NoReadingsError, compare_readings
from service.domain.validity import RunFacts
from service.domain.verdict import Outcome

STEADY = (100.0, 101.0, 99.0, 100.0, 100.5)
# A file that tells all: no tool writes one.
WHOLE: Mapping[str, Fact] = dict.fromkeys(NEEDED, "x") | {"requests": 96, "concurrency": 8}
FINE = RunFacts(
    requests_completed=96,
    requests_asked=96,
    streamed=False,
    cold=False,
    server_errors=0,
    retractions=0,
    refusals=(),
    graphs_asked=False,
    client_cpu_share=0.1,
    cards_leased=(),
    clock_drift_s=0.0,
)


def reading(
    value: float,
    condition: Mapping[str, Fact] | None = None,
    *,
    facts: RunFacts = FINE,
    **more: Any,
) -> Reading:
    return Reading(
        file="a.jsonl",
        line=1,
        tool=more.get("tool", "tool"),
        tool_version=more.get("tool_version"),
        definition=more.get("definition", 1),
        condition=WHOLE if condition is None else condition,
        metrics={"output_throughput": value, **more.get("metrics", {})},
        facts=facts,
        resolution=Resolution(more.get("settled", {})),
    )


def arm(*values: float, **more: Any) -> list[list[Reading]]:
    return [[reading(value, **more) for value in values or STEADY]]


def without(*names: str) -> dict[str, Fact]:
    return {name: value for name, value in WHOLE.items() if name not in names}


def told(**changes: Fact) -> dict[str, Fact]:
    return {**WHOLE, **changes}


def compared(baseline: Arm, candidate: Arm, **said: Any) -> Comparison:
    alike = frozenset(said.pop("alike", ()))
    return compare_readings(
        baseline, candidate, policy=Policy(), assumptions=Assumptions(said, alike)
    )


def test_a_file_that_tells_all_leaves_nothing_open() -> None:
    assert check(FINE) == ()


def test_readings_of_one_whole_condition_are_judged_on_no_assumption() -> None:
    comparison = compared(arm(), arm())

    assert comparison.outcome is Outcome.UNCHANGED
    assert comparison.warnings == ()
    assert comparison.assumed == ()


@pytest.mark.parametrize("name", sorted(NEEDED))
def test_a_field_that_both_tell_differently_is_refused_and_named(name: str) -> None:
    comparison = compared(arm(), arm(condition=told(**{name: "y"})), alike=["all"])

    assert comparison.outcome is Outcome.NOT_COMPARABLE
    assert [each.field for each in comparison.differences] == [name]
    assert comparison.untold == ()


# A rate says how requests reach the server, so nobody need tell the load beside it.
@pytest.mark.parametrize("name", sorted(NEEDED.keys() - {"load"}))
def test_a_field_that_neither_tells_is_refused_and_named_until_it_is_assumed(name: str) -> None:
    lacking = arm(condition=without(name))
    comparison = compared(lacking, lacking)

    assert comparison.outcome is Outcome.NOT_COMPARABLE
    assert [str(each) for each in comparison.differences] == [f"{name}: (not told) ≠ (not told)"]
    assert comparison.untold == (name,)
    assert compared(lacking, lacking, alike=[name]).assumed == (Assumed(name, None),)
    assert compared(lacking, lacking, alike=[name]).outcome is Outcome.UNCHANGED


def test_a_field_that_only_one_side_tells_is_refused_until_it_is_assumed() -> None:
    lacking = arm(condition=without("tp"))

    assert [str(each) for each in compared(arm(), lacking).differences] == ["tp: x ≠ (not told)"]
    assert compared(arm(), lacking, alike=["tp"]).assumed == (Assumed("tp", "x"),)
    assert compared(lacking, arm(), alike=["all"]).outcome is Outcome.UNCHANGED


def test_an_assumption_with_a_value_fills_both_sides() -> None:
    lacking = arm(condition=without("card_model"))

    comparison = compared(lacking, lacking, card_model="P800")

    assert comparison.outcome is Outcome.UNCHANGED
    assert [str(each) for each in comparison.assumed] == ["card_model = P800"]


def test_an_assumption_never_overrules_a_file() -> None:
    with pytest.raises(OverruledError, match="tp is assumed to be 2, and the baseline tells x"):
        compared(arm(), arm(condition=without("tp")), tp=2)


def test_an_assumption_about_what_both_tell_is_none() -> None:
    assert compared(arm(), arm(), concurrency=8, alike=["all"]).assumed == ()


def test_a_number_is_assumed_as_a_number_however_it_is_written() -> None:
    assert compared(arm(), arm(), concurrency=8.0).outcome is Outcome.UNCHANGED


def test_a_tools_own_field_that_one_side_tells_is_said_and_not_asked_for() -> None:
    comparison = compared(arm(), arm(condition=told(burstiness=1.0)))

    assert comparison.outcome is Outcome.UNCHANGED
    assert comparison.warnings == ("only one side tells burstiness",)


def test_null_is_told_and_differs_from_a_value() -> None:
    comparison = compared(arm(condition=told(concurrency=None)), arm())

    assert [str(each) for each in comparison.differences] == ["concurrency: null ≠ 8"]


def test_a_fixed_batch_has_no_rate_no_range_and_no_number_of_requests_to_tell() -> None:
    batch = without("range_ratio", "request_rate", "requests") | {"load": "batch"}

    assert compared(arm(condition=batch), arm(condition=batch)).outcome is Outcome.UNCHANGED


def test_a_rate_says_how_requests_reach_the_server() -> None:
    lacking = arm(condition=without("load"))

    assert compared(lacking, lacking).outcome is Outcome.UNCHANGED


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"definition": 2}, "protocol.definition"),
        ({"tool": "vllm.bench_serve"}, "protocol.tool"),
        ({"tool_version": ">=0.5.14"}, "protocol.tool_version"),
    ],
)
def test_another_tool_or_definition_is_never_compared(more: dict[str, object], field: str) -> None:
    comparison = compared(arm(), arm(**more), alike=["all"])

    assert comparison.outcome is Outcome.NOT_COMPARABLE
    assert field in [each.field for each in comparison.differences]


def test_the_exact_release_of_a_tool_need_not_be_assumed() -> None:
    exact = arm(condition=without("client_version"), tool_version="0.5.23")
    ranged = arm(condition=without("client_version"), tool_version=">=0.5.14")

    assert compared(exact, exact).outcome is Outcome.UNCHANGED
    assert compared(ranged, ranged).untold == ("client_version",)


def test_an_arm_of_two_conditions_is_refused() -> None:
    mixed = [[*arm(100.0)[0], *arm(100.0, condition=told(concurrency=16))[0]]]

    comparison = compared(mixed, arm())

    assert not comparison.comparable
    assert [each.field for each in comparison.differences] == ["concurrency within the baseline"]


def test_one_invalid_reading_spoils_its_arm_and_is_named() -> None:
    spoilt = [[*arm()[0], *arm(100.0, facts=RunFacts(ttft_p50=0.0))[0]]]

    comparison = compared(arm(), spoilt)

    assert comparison.outcome is Outcome.INVALID
    assert "ttft_zero in 1 of 6 results, first in a.jsonl:1" in comparison.verdicts[0].reason


def test_an_invalid_side_is_said_before_what_is_still_to_be_told() -> None:
    failing = arm(condition=without("cache"), facts=RunFacts(ttft_p50=0.0))

    assert compared(arm(), failing).outcome is Outcome.INVALID
    assert compared(arm(), failing, alike=["all"]).outcome is Outcome.INVALID


def test_a_difference_is_said_before_an_invalid_side() -> None:
    failing = arm(condition=told(tp=2), facts=RunFacts(ttft_p50=0.0))

    assert compared(arm(), failing).outcome is Outcome.NOT_COMPARABLE


def test_gates_that_a_file_leaves_open_are_one_thing_to_assume() -> None:
    bare = arm(facts=RunFacts(requests_completed=96, requests_asked=96, streamed=False))

    comparison = compared(arm(), bare)
    assumed = compared(arm(), bare, alike=["gates"])

    assert [str(each) for each in comparison.differences] == ["gates: hold ≠ (not told)"]
    assert assumed.outcome is Outcome.UNCHANGED
    assert assumed.assumed[0].field == "gates"
    assert "cache_not_flushed, server_errors" in str(assumed.assumed[0].value)


@pytest.mark.parametrize(
    "assumptions",
    [
        pytest.param(Assumptions({"requests": 96}, frozenset({"gates"})), id="the number is said"),
        pytest.param(Assumptions({}, frozenset({"requests", "gates"})), id="it was the same"),
        pytest.param(Assumptions({}, frozenset({"all"})), id="all was the same"),
    ],
)
def test_requests_that_never_completed_come_out_once_their_number_is_assumed(
    assumptions: Assumptions,
) -> None:
    whole = arm(condition=without("requests"), facts=_completed(96))
    half = arm(condition=without("requests"), facts=_completed(48))

    comparison = compare_readings(whole, half, policy=Policy(), assumptions=assumptions)

    assert comparison.outcome is Outcome.INVALID
    assert "candidate: requests_failed in 5 of 5 results" in comparison.verdicts[0].reason


def test_a_kv_capacity_that_moves_within_a_side_makes_it_invalid() -> None:
    moved = [
        [
            *arm(*STEADY, facts=_capacity(16384))[0],
            *arm(100.0, facts=_capacity(14000))[0],
        ]
    ]

    comparison = compared(arm(facts=_capacity(16384)), moved)

    assert "candidate: kv_capacity_moved in 1 of 6 results" in comparison.verdicts[0].reason


def test_what_the_servers_settled_by_themselves_is_said() -> None:
    old = arm(settled={"attention_backend": "fa3", "version": "0.5.18", "page_size": 1})
    new = arm(settled={"attention_backend": "triton", "version": "0.5.23"})

    assert compared(old, new).warnings == (
        "attention backend: fa3 → triton, not asked for",
        "only one of the two servers tells its page size",
    )


def test_that_nobody_asked_is_said_of_files_only_where_the_arguments_are_known() -> None:
    bare = without("server_arguments")
    old = arm(condition=bare, settled={"page_size": 1})
    new = arm(condition=bare, settled={"page_size": 64})
    assumed = compared(old, new, alike=["server_arguments"])

    assert compared(old, new).warnings == ("page size: 1 → 64, not told whether asked for",)
    assert assumed.warnings == ("page size: 1 → 64, not asked for",)


def test_a_tail_of_too_few_requests_is_not_judged_and_says_why() -> None:
    tails = arm(metrics={"ttft_p99": 0.2})

    comparison = compare_readings(tails, tails, policy=Policy(), metrics=[METRICS["ttft_p99"]])

    assert comparison.outcome is Outcome.INCONCLUSIVE
    assert comparison.verdicts[0].reason == (
        "baseline: a p99 needs at least 299 completed requests, and 96 completed, in a.jsonl:1"
    )


@pytest.mark.parametrize("empty", [[], [[]]])
def test_an_arm_without_readings_is_no_arm(empty: list[list[Reading]]) -> None:
    with pytest.raises(NoReadingsError, match="the candidate has no readable result"):
        compared(arm(), empty)


def _completed(count: int) -> RunFacts:
    return RunFacts(requests_completed=count, streamed=False)


def _capacity(tokens: int) -> RunFacts:
    return replace(FINE, kv_capacity=tokens)


# With all their digits two measurements never agree, so these are copies of one.
EXACT = (100.12345678901, 101.23456789012, 99.345678901234, 100.45678901234, 100.56789012345)


@pytest.mark.parametrize("baseline", [(*EXACT[:4], EXACT[0]), EXACT[:1] * 10], ids=["one", "all"])
def test_a_copy_of_a_result_is_no_further_repeat(baseline: tuple[float, ...]) -> None:
    comparison = compared(arm(*baseline), arm(*EXACT))
    copies = len(baseline) - len(set(baseline))

    assert comparison.outcome is Outcome.INSUFFICIENT_BASELINE
    assert comparison.warnings[0].startswith(f"baseline: {copies} of {len(baseline)} results are")


def test_a_copy_in_another_launch_is_no_further_launch() -> None:
    launches = [[reading(EXACT[0])] for _ in range(10)]

    assert compared(launches, arm(*EXACT)).outcome is Outcome.INSUFFICIENT_BASELINE


def test_rounded_results_that_read_alike_may_be_several() -> None:
    assert compared(arm(100.0, 100.0, 100.0, 101.0, 100.0), arm()).warnings == ()


def test_results_that_stand_on_both_sides_are_said_to() -> None:
    (warning,) = compared(arm(*EXACT), arm(*EXACT)).warnings

    assert warning == "5 results stand on both sides: they are compared with themselves"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("requests", -5),
        ("requests", 1.5),
        ("requests", True),
        ("requests", ""),
        ("requests", "many"),
        ("requests", float("inf")),
        ("requests", None),
        ("tp", float("nan")),
        ("concurrency", "8"),
        ("request_rate", -1.0),
        ("request_rate", "fast"),
        ("temperature", float("inf")),
        ("ignore_eos", 1),
        ("dataset", ""),
        ("weights", float("inf")),
    ],
    ids=repr,
)
def test_a_field_is_never_assumed_to_be_what_it_cannot_be(name: str, value: Fact) -> None:
    with pytest.raises(WrongValueError, match=name):
        Assumptions({name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [("requests", 96), ("concurrency", None), ("request_rate", "inf"), ("temperature", 0)],
    ids=repr,
)
def test_a_field_may_be_assumed_to_be_what_tools_write(name: str, value: Fact) -> None:
    assert Assumptions({name: value}).cover(name)
