"""Results of vllm bench serve of any release, in our words and units, and what ails them."""

import math
from typing import Any

import pytest
from hypothesis import given

from service.domain.validity import Validity
from service.formats.tools import bench_serving, vllm_serve
from service.formats.tools.registry import TOOLS, read_file
from tests.any_json import changes
from tests.results import SERVING
from tests.shared_data import shared
from tests.vllm_results import ALL_FAILED, NEWEST, OF_RELEASE, OLDEST, failures, problems, read

POOLING: dict[str, Any] = {
    key: NEWEST[key]
    for key in (
        "date", "endpoint_type", "backend", "label", "model_id", "num_prompts", "request_rate",
        "burstiness", "max_concurrency", "duration", "completed", "total_input_tokens",
        "request_throughput", "total_token_throughput", "latencies",
    )
} | {"mean_e2el_ms": 30.0, "median_e2el_ms": 29.0, "p99_e2el_ms": 40.0}  # fmt: skip


@pytest.mark.parametrize("result", OF_RELEASE.values(), ids=OF_RELEASE.keys())
def test_every_release_gives_the_same_values_in_base_units(result: dict[str, Any]) -> None:
    reading = read(result)

    assert reading.tool == "vllm.bench_serve"
    assert reading.metrics["ttft_p50"] == pytest.approx(0.070)
    assert reading.metrics["tpot_mean"] == pytest.approx(0.0512)
    assert reading.metrics["itl_p50"] == pytest.approx(0.050)
    assert reading.metrics["total_throughput"] == pytest.approx(480)
    assert reading.metrics["duration"] == pytest.approx(40)
    assert failures(reading) == []
    assert reading.validity is Validity.INCOMPLETE


@pytest.mark.parametrize(
    ("release", "releases", "definition"),
    [
        ("0.6.2", "<0.6.3", vllm_serve.RETOKENISED),
        ("0.6.3", ">=0.6.3,<0.6.4", vllm_serve.RETOKENISED),
        ("0.6.6", ">=0.6.4,<0.7.0", vllm_serve.RETOKENISED),
        ("0.7.3", ">=0.6.4,<0.8.0", vllm_serve.EITHER_OUTPUT),
        ("0.8.5 script", ">=0.8.0,<0.9.2", vllm_serve.COUNTED_BY_SERVER),
        ("0.8.5", ">=0.8.0,<0.9.2", vllm_serve.COUNTED_BY_SERVER),
        ("0.10.1 script", ">=0.9.2,<0.10.2", vllm_serve.COUNTED_BY_SERVER),
        ("0.10.2", ">=0.9.2,<0.11.0", vllm_serve.COUNTED_BY_SERVER),
        ("0.11.0", ">=0.11.0,<0.11.1", vllm_serve.COUNTED_BY_SERVER),
        ("0.11.1", ">=0.11.1,<0.17", vllm_serve.COUNTED_BY_SERVER),
        ("0.25.1", ">=0.17,<0.30", vllm_serve.EITHER_INPUT),
        ("0.33.0", ">=0.30", vllm_serve.ONE_CLOCK),
    ],
)
def test_the_keys_tell_the_releases_and_what_they_meant(
    release: str, releases: str, definition: int
) -> None:
    reading = read(OF_RELEASE[release])

    assert (reading.tool_version, reading.definition) == (releases, definition)


def test_keys_of_no_known_release_have_no_known_definition() -> None:
    reading = read(
        {key: value for key, value in OLDEST.items() if key not in {"best_of", "use_beam_search"}}
    )

    assert (reading.tool_version, reading.definition) == (None, vllm_serve.UNKNOWN)


def test_the_condition_is_what_the_file_tells() -> None:
    assert read(NEWEST).condition == {
        "backend": "vllm",
        "requests": 100,
        "request_rate": "inf",
        "model": "tiny-llama",
        "tokenizer": "tiny-llama",
        "concurrency": 8,
        "burstiness": 1.0,
    }


@pytest.mark.parametrize("release", ["0.6.2", "0.10.2", "0.11.1", "0.33.0"])
def test_half_of_the_requests_failed_in_any_release(release: str) -> None:
    told = OF_RELEASE[release]
    half = told | {"completed": 50} | ({"failed": 50} if "failed" in told else {})

    assert "requests_failed" in failures(read(half))


def test_a_load_that_failed_altogether_is_invalid_and_has_no_metric_but_its_duration() -> None:
    reading = read(ALL_FAILED)

    assert reading.validity is Validity.INVALID
    assert {"all_failed", "requests_failed"} <= set(failures(reading))
    assert set(reading.metrics) == {"duration"}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        pytest.param({"median_ttft_ms": 0.0}, "ttft_zero", id="TTFT zero"),
        pytest.param({"median_itl_ms": 0.0}, "itl_zero", id="ITL zero"),
        pytest.param({"median_tpot_ms": 5.0}, "tpot_against_itl", id="TPOT far below ITL"),
        pytest.param({"p99_ttft_ms": float("nan")}, "value_not_finite", id="NaN"),
        pytest.param({"output_throughput": "inf"}, "value_not_finite", id="infinity as text"),
        pytest.param({"generated_texts": [""] * 100}, "no_text_came_back", id="no text"),
        pytest.param({"completed": 120, "failed": -20}, "requests_failed", id="negative failures"),
    ],
)
def test_what_the_file_tells_against_itself_makes_it_invalid(
    change: dict[str, Any], code: str
) -> None:
    assert code in failures(read(NEWEST | change))


def test_an_accepted_draft_lets_a_gap_hold_several_tokens() -> None:
    reading = read(NEWEST | {"spec_decode_acceptance_length": 3.2, "median_tpot_ms": 16.0})

    assert failures(reading) == []
    assert reading.metrics["accept_length"] == pytest.approx(3.2)


def test_nulls_and_absent_values_are_unknown_and_nothing_else_is_lost() -> None:
    reading = read(NEWEST | {"median_ttft_ms": None, "completed": None, "max_concurrency": None})

    assert "ttft_p50" not in reading.metrics
    assert reading.facts.requests_completed is None
    assert reading.condition["concurrency"] is None
    assert reading.metrics["tpot_p50"] == pytest.approx(0.051)


def test_numbers_as_text_are_numbers_and_numbers_with_units_are_not() -> None:
    reading = read(NEWEST | {"median_ttft_ms": "70.5", "median_tpot_ms": "51 ms"})

    assert reading.metrics["ttft_p50"] == pytest.approx(0.0705)
    assert "tpot_p50" not in reading.metrics


def test_latencies_without_their_unit_are_not_taken_for_milliseconds() -> None:
    renamed = {key.removesuffix("_ms"): value for key, value in NEWEST.items()}

    assert not vllm_serve.recognises(renamed)


@pytest.mark.parametrize(
    ("change", "requests"),
    [
        pytest.param({}, 7.75, id="all their times"),
        pytest.param({"latencies": None, "mean_e2el_ms": 3000.0}, 7.5, id="their mean"),
        pytest.param({"latencies": None}, None, id="neither"),
        pytest.param({"latencies": [1.0, None]}, None, id="a time that is none"),
        pytest.param({"duration": 0.0}, None, id="no duration"),
    ],
)
def test_requests_in_flight_are_told_by_their_times(
    change: dict[str, Any], requests: float | None
) -> None:
    in_flight = read(NEWEST | change).facts.concurrency

    assert in_flight == (None if requests is None else pytest.approx(requests))


def test_embeddings_have_whole_requests_and_no_tokens() -> None:
    reading = read(POOLING)

    assert reading.tool == "vllm.bench_serve"
    assert not reading.facts.streamed
    assert reading.metrics["e2e_p50"] == pytest.approx(0.029)
    assert failures(reading) == []
    assert read(POOLING | {"queue_times": []}).tool_version == ">=0.30"


def test_one_output_token_has_no_gap_and_no_time_per_token() -> None:
    metrics = read(NEWEST | {"total_output_tokens": 100}).metrics

    assert not [name for name in metrics if name.startswith(("tpot", "itl"))]


def test_a_ramp_belongs_to_the_condition() -> None:
    ramp = {"ramp_up_strategy": "linear", "ramp_up_start_rps": 1, "ramp_up_end_rps": 10}

    assert ramp.items() <= read(NEWEST | ramp).condition.items()


@pytest.mark.parametrize("result", OF_RELEASE.values(), ids=OF_RELEASE.keys())
def test_no_other_tool_takes_a_result_for_its_own(result: dict[str, Any]) -> None:
    named = result | {"dataset_name": "random", "tag": None}

    assert [tool.name for tool in TOOLS if tool.recognises(result)] == ["vllm.bench_serve"]
    assert [tool.name for tool in TOOLS if tool.recognises(named)] == ["vllm.bench_serve"]


def test_sglang_results_are_not_taken_for_this_tools() -> None:
    assert bench_serving.recognises(SERVING)
    assert not vllm_serve.recognises(SERVING)


def test_an_object_without_its_marks_is_of_no_tool() -> None:
    assert problems({key: NEWEST[key] for key in NEWEST if key != "model_id"}) == ["unknown_tool"]


@pytest.mark.parametrize(
    ("name", "releases", "ttft", "throughput"),
    [
        ("0.10-ish_dstack_pd/1p3d_conc128_in2048_out2048_20250914_014638.json",
         ">=0.9.2,<0.11.0", 0.29179, 8774.64),
        ("0.6-ish/nvidia-vllm-16.0qps-Llama-3.1-405B-FP8-20241109-150547.json",
         ">=0.6.3,<0.6.4", 0.40331, 1198.89),
        ("0.6-ish/amd-meta-vllm-1000.0qps-Llama-3.1-405B-FP8-20241120-122826_RPC.json",
         "<0.6.3", 49.66451, 624.677),
    ],
    ids=["0.10", "0.6.3", "0.6.2"],
)  # fmt: skip
def test_public_files_are_read(name: str, releases: str, ttft: float, throughput: float) -> None:
    found = read_file(shared(f"bench/vllm_bench_serve/{name}"))
    (reading,) = found.readings

    assert found.unreadable == ()
    assert (reading.tool, reading.tool_version) == ("vllm.bench_serve", releases)
    assert reading.metrics["ttft_p50"] == pytest.approx(ttft, rel=1e-4)
    assert reading.metrics["output_throughput"] == pytest.approx(throughput, rel=1e-4)
    assert failures(reading) == []


@given(changes({key for result in OF_RELEASE.values() for key in result}))
def test_no_content_of_a_known_key_makes_it_fail(other: dict[str, object]) -> None:
    for result in (NEWEST | other, OLDEST | other, POOLING | other):
        (parsed,) = vllm_serve.parse(result)
        assert all(math.isfinite(value) for value in parsed.metrics.values())
