"""Results of inference-perf: its times of requests are read, those of tokens are left alone."""

from typing import Any

import pytest
from hypothesis import given

from service.domain.validity import Validity
from service.formats.tools import inference_perf
from service.formats.tools.registry import TOOLS, read_file
from tests.any_json import changes
from tests.shared_data import shared
from tests.vllm_results import failures, problems, read

LATENCY = {"mean": 1.1, "median": 1.0, "p90": 1.4, "p95": 1.5, "p99": 1.9, "max": 2.0}
SUCCESSES: dict[str, Any] = {
    "count": 2000,
    "latency": {
        "request_latency": LATENCY,
        "time_to_first_token": {name: value / 10 for name, value in LATENCY.items()},
        "time_per_output_token": {"mean": 0.006, "median": 0.006},
        "inter_token_latency": {"mean": 0.006, "median": 0.00004},
    },
    "throughput": {
        "input_tokens_per_sec": 2000.0,
        "output_tokens_per_sec": 640.0,
        "total_tokens_per_sec": 2640.0,
        "requests_per_sec": 10.0,
    },
    "prompt_len": {"mean": 200.0},
    "output_len": {"mean": 64.0},
}
STAGE: dict[str, Any] = {
    "load_summary": {"count": 2000, "requested_rate": 10.0, "achieved_rate": 9.9},
    "successes": SUCCESSES,
    "failures": {"count": 0, "request_latency": None, "prompt_len": None},
}
NOTHING_SUCCEEDED: dict[str, Any] = {
    "load_summary": {"count": 2000, "requested_rate": 10.0},
    "successes": {"count": 0, "latency": {"request_latency": None}, "throughput": {}},
    "failures": {"count": 2000},
}


def test_times_of_requests_are_seconds_and_rates_are_per_second() -> None:
    reading = read(STAGE)

    assert (reading.tool, reading.definition) == ("inference_perf", inference_perf.RETOKENISED)
    assert reading.metrics["ttft_p50"] == pytest.approx(0.1)
    assert reading.metrics["e2e_p99"] == pytest.approx(1.9)
    assert reading.metrics["total_throughput"] == 2640.0
    assert reading.condition == {"requests": 2000, "load": "open", "request_rate": 10.0}
    assert failures(reading) == []
    assert reading.validity is Validity.INCOMPLETE


def test_times_of_tokens_are_left_out_because_they_are_of_tokens_counted_anew() -> None:
    assert not [name for name in read(STAGE).metrics if name.startswith(("tpot", "itl"))]


def test_a_count_of_the_servers_is_another_definition() -> None:
    successes = SUCCESSES | {"output_tokens": {"total": 128000.0}}
    newer = STAGE | {"successes": successes, "benchmark_time_seconds": 200.0}
    reading = read(newer)

    assert reading.definition == inference_perf.EITHER_COUNT
    assert reading.facts.duration_s == 200.0


def test_the_summary_of_all_stages_tells_no_rate() -> None:
    assert read(STAGE | {"load_summary": {"count": 2000}}).condition == {"requests": 2000}


@pytest.mark.parametrize(
    ("result", "code"),
    [
        pytest.param(
            STAGE | {"successes": SUCCESSES | {"count": 1000}}, "requests_failed", id="half failed"
        ),
        pytest.param(NOTHING_SUCCEEDED, "all_failed", id="all failed"),
        pytest.param(
            STAGE | {"successes": SUCCESSES | {"throughput": {"requests_per_sec": "nan"}}},
            "value_not_finite", id="NaN as text",
        ),
        pytest.param(
            STAGE | {"successes": SUCCESSES | {"latency": {"time_to_first_token": {"median": 0}}}},
            "ttft_zero", id="TTFT zero",
        ),
    ],
)  # fmt: skip
def test_what_the_file_tells_against_itself_makes_it_invalid(
    result: dict[str, Any], code: str
) -> None:
    assert code in failures(read(result))


def test_without_the_number_sent_successes_and_failures_add_up() -> None:
    load = {"requested_rate": 10.0}

    assert read(STAGE | {"load_summary": load}).facts.requests_asked == 2000
    assert read(STAGE | {"load_summary": load, "failures": {}}).facts.requests_asked is None


@pytest.mark.parametrize("key", sorted(STAGE))
def test_an_object_that_lacks_a_part_is_of_no_tool(key: str) -> None:
    assert problems({name: STAGE[name] for name in STAGE if name != key}) == ["unknown_tool"]


def test_no_other_tool_takes_a_report_for_its_own() -> None:
    assert [tool.name for tool in TOOLS if tool.recognises(STAGE)] == ["inference_perf"]


@pytest.mark.parametrize(
    ("name", "requests", "ttft"),
    [
        ("vllm_batch_size__stage_6_lifecycle_metrics", 13369, 2.0974263),
        ("vllm_eagle__stage_0_lifecycle_metrics", 60, 0.0366091),
        ("vllm_batch_size__summary_lifecycle_metrics", 47002, 2.1061962),
    ],
    ids=["stage", "speculative", "summary"],
)
def test_public_reports_are_read(name: str, requests: int, ttft: float) -> None:
    (reading,) = read_file(shared(f"bench/inference_perf/kubecon25/{name}.json")).readings

    assert reading.facts.requests_completed == reading.facts.requests_asked == requests
    assert reading.metrics["ttft_p50"] == pytest.approx(ttft)
    assert failures(reading) == []


def test_a_report_of_the_servers_own_metrics_is_not_one_of_the_load() -> None:
    name = "bench/inference_perf/kubecon25/vllm_batch_size__stage_0_prometheus_metrics.json"
    found = read_file(shared(name))

    assert found.readings == ()
    assert [each.code for each in found.unreadable] == ["unknown_tool"]


@given(changes(STAGE), changes(SUCCESSES))
def test_no_content_of_a_known_key_makes_it_fail(
    stage: dict[str, object], successes: dict[str, object]
) -> None:
    for result in (STAGE | stage, STAGE | {"successes": SUCCESSES | successes}):
        assert len(inference_perf.parse(result)) == 1
