"""Results of llmperf: the summary of one run, in seconds."""

from typing import Any

import pytest
from hypothesis import given

from service.domain.validity import Validity
from service.formats.tools import llmperf
from service.formats.tools.registry import TOOLS, read_file
from tests.any_json import changes
from tests.shared_data import shared
from tests.vllm_results import failures, problems, read

SUMMARY: dict[str, Any] = {
    "version": "2023-08-31",
    "name": "tiny-llama_550_150_summary",
    "model": "org/tiny-llama",
    "mean_input_tokens": 550,
    "stddev_input_tokens": 0,
    "mean_output_tokens": 150,
    "stddev_output_tokens": 10,
    "num_concurrent_requests": 5,
    "results_inter_token_latency_s_quantiles_p50": 0.0188,
    "results_ttft_s_quantiles_p50": 0.2,
    "results_ttft_s_quantiles_p99": 0.4,
    "results_ttft_s_mean": 0.22,
    "results_end_to_end_latency_s_quantiles_p50": 2.9,
    "results_end_to_end_latency_s_mean": 2.95,
    "results_num_requests_started": 150,
    "results_number_errors": 0,
    "results_error_code_frequency": {},
    "results_mean_output_throughput_token_per_s": 198.25,
    "results_num_completed_requests": 150,
    "results_num_completed_requests_per_min": 78.0,
}
ALL_FAILED: dict[str, Any] = {
    key: SUMMARY[key] for key in SUMMARY if not key.startswith(("results_ttft", "results_end"))
} | {
    "results_number_errors": 150,
    "results_num_completed_requests": 0,
    "results_num_completed_requests_per_min": 0.0,
    "results_mean_output_throughput_token_per_s": 0.0,
}


def test_values_are_in_base_units_and_requests_are_per_second() -> None:
    reading = read(SUMMARY)

    assert reading.tool == "llmperf"
    assert reading.metrics["ttft_p50"] == 0.2
    assert reading.metrics["e2e_mean"] == 2.95
    assert reading.metrics["output_throughput"] == 198.25
    assert reading.metrics["request_throughput"] == pytest.approx(1.3)
    assert failures(reading) == []
    assert reading.validity is Validity.INCOMPLETE


def test_a_time_per_token_that_holds_the_first_one_is_neither_tpot_nor_itl() -> None:
    assert not [name for name in read(SUMMARY).metrics if name.startswith(("tpot", "itl"))]


def test_the_condition_is_what_the_file_tells() -> None:
    assert read(SUMMARY).condition == {
        "load": "closed",
        "concurrency": 5,
        "requests": 150,
        "input_tokens": 550.0,
        "input_tokens_stdev": 0.0,
        "output_tokens": 150.0,
        "output_tokens_stdev": 10.0,
        "model": "tiny-llama",
    }


@pytest.mark.parametrize(
    ("result", "code"),
    [
        pytest.param(
            SUMMARY | {"results_num_completed_requests": 75, "results_number_errors": 75},
            "requests_failed", id="half failed",
        ),
        pytest.param(
            SUMMARY | {"results_number_errors": 75},
            "requests_failed", id="failures counted as completed"
        ),
        pytest.param(ALL_FAILED, "all_failed", id="all failed"),
        pytest.param(SUMMARY | {"results_ttft_s_mean": float("nan")}, "value_not_finite", id="NaN"),
        pytest.param(SUMMARY | {"results_ttft_s_quantiles_p50": 0}, "ttft_zero", id="TTFT zero"),
    ],
)  # fmt: skip
def test_what_the_file_tells_against_itself_makes_it_invalid(
    result: dict[str, Any], code: str
) -> None:
    assert code in failures(read(result))


def test_nulls_and_text_are_taken_as_they_come() -> None:
    reading = read(
        SUMMARY | {"results_ttft_s_quantiles_p50": None, "results_ttft_s_mean": "0.22", "model": 1}
    )

    assert "ttft_p50" not in reading.metrics
    assert reading.metrics["ttft_mean"] == 0.22
    assert "model" not in reading.condition


@pytest.mark.parametrize("key", ["num_concurrent_requests", "results_num_requests_started"])
def test_an_object_that_lacks_a_mark_is_of_no_tool(key: str) -> None:
    assert problems({name: SUMMARY[name] for name in SUMMARY if name != key}) == ["unknown_tool"]


def test_no_other_tool_takes_a_summary_for_its_own() -> None:
    assert [tool.name for tool in TOOLS if tool.recognises(SUMMARY)] == ["llmperf"]


@pytest.mark.parametrize(
    ("name", "throughput"), [("anyscale_7b", 198.251226), ("groq_70b", 441.847406)]
)
def test_public_summaries_are_read(name: str, throughput: float) -> None:
    (reading,) = read_file(shared(f"bench/llmperf/leaderboard/{name}.json")).readings

    assert reading.metrics["output_throughput"] == pytest.approx(throughput, rel=1e-4)
    assert reading.facts.requests_completed == 150
    assert failures(reading) == []


@given(changes(SUMMARY))
def test_no_content_of_a_known_key_makes_it_fail(other: dict[str, object]) -> None:
    assert len(llmperf.parse(SUMMARY | other)) == 1
