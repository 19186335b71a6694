"""Results of vllm bench latency: one batch again and again, each time as a whole."""

from typing import Any

import pytest
from hypothesis import given

from service.domain.validity import Validity
from service.formats.tools import vllm_latency
from service.formats.tools.registry import TOOLS, read_file
from tests.any_json import changes
from tests.shared_data import shared
from tests.vllm_results import failures, problems, read

RESULT: dict[str, Any] = {
    "avg_latency": 2.5,
    "latencies": [2.0, 3.0],
    "percentiles": {"10": 2.1, "25": 2.25, "50": 2.5, "75": 2.75, "90": 2.9, "99": 2.99},
}


def test_a_batchs_time_is_that_of_a_whole_request() -> None:
    reading = read(RESULT)

    assert (reading.tool, reading.tool_version) == ("vllm.bench_latency", None)
    assert reading.metrics["e2e_mean"] == 2.5
    assert reading.metrics["e2e_p50"] == 2.5
    assert reading.facts.duration_s == 5.0
    assert reading.condition == {"load": "batch"}
    assert reading.validity is Validity.INCOMPLETE
    assert failures(reading) == []


def test_all_percentiles_are_offered_to_the_rule_on_tails() -> None:
    (parsed,) = vllm_latency.parse(RESULT)

    assert parsed.metrics == {"e2e_mean": 2.5, "e2e_p50": 2.5, "e2e_p90": 2.9, "e2e_p99": 2.99}


def test_the_spread_came_after_0_33() -> None:
    assert read(RESULT | {"std_latency": 0.5}).tool_version == ">0.33"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        pytest.param({"avg_latency": 0.0, "percentiles": {"50": 0.0}}, "all_failed", id="zeros"),
        pytest.param({"avg_latency": float("nan")}, "value_not_finite", id="NaN"),
        pytest.param({"percentiles": {"50": "inf"}}, "value_not_finite", id="infinity as text"),
    ],
)
def test_what_the_file_tells_against_itself_makes_it_invalid(
    change: dict[str, Any], code: str
) -> None:
    assert code in failures(read(RESULT | change))


@pytest.mark.parametrize(
    "latencies", [[], None, "2.0", [2.0, None]], ids=["empty", "null", "text", "a null among them"]
)
def test_without_a_list_of_times_the_duration_is_not_known(latencies: object) -> None:
    reading = read(RESULT | {"latencies": latencies})

    assert reading.facts.duration_s is None
    assert reading.metrics["e2e_p50"] == 2.5


def test_numbers_as_text_are_numbers() -> None:
    reading = read(RESULT | {"avg_latency": "2.5", "percentiles": None})

    assert reading.metrics == {"e2e_mean": 2.5}


@pytest.mark.parametrize("key", ["avg_latency", "percentiles"])
def test_an_object_that_lacks_a_mark_is_of_no_tool(key: str) -> None:
    assert problems({name: RESULT[name] for name in RESULT if name != key}) == ["unknown_tool"]


def test_no_other_tool_takes_a_result_for_its_own() -> None:
    assert [tool.name for tool in TOOLS if tool.recognises(RESULT)] == ["vllm.bench_latency"]


@pytest.mark.parametrize(
    ("batch", "latency", "duration"),
    [(4, 73.03872, 146.07745), (128, 474.8733, 949.7466), (256, 879.76101, None)],
)
def test_public_files_are_read(batch: int, latency: float, duration: float | None) -> None:
    name = f"nvidia-latency_test_ip2048_op2048_np{batch}.json"
    (reading,) = read_file(shared(f"bench/vllm_bench_latency/0.6-ish/{name}")).readings

    assert reading.metrics["e2e_p50"] == pytest.approx(latency)
    assert reading.facts.duration_s == (None if duration is None else pytest.approx(duration))
    assert failures(reading) == []


@given(changes(RESULT))
def test_no_content_of_a_known_key_makes_it_fail(other: dict[str, object]) -> None:
    (parsed,) = vllm_latency.parse(RESULT | other)

    assert not parsed.facts.streamed
