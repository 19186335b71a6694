"""Results of vllm bench sweep: what was varied is told, warm-ups and failed runs are told apart."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.validity import Validity
from service.formats.tools import vllm_sweep
from service.formats.tools.registry import TOOLS, read_bytes
from tests.any_json import ANY_JSON, changes
from tests.vllm_results import ALL_FAILED, NEWEST, OF_RELEASE, failures, read

RUN: dict[str, Any] = NEWEST | {
    "run_number": 0,
    "max_num_seqs": 32,
    "tensor_parallel_size": 2,
    "random-input-len": 1024,
    "random_output_len": 128,
    "max_concurrency": 16,
    "compilation-config.pass_config": {"fuse_norm": True},
    "_benchmark_name": "first",
}
FAILED: dict[str, Any] = {
    "run_number": 1,
    "error_type": "CalledProcessError",
    "error": "returned non-zero exit status 1",
    "serve_overrides": {"max_num_seqs": 512},
    "bench_overrides": {"max_concurrency": 64, "num_prompts": 200},
}


def test_a_run_is_that_of_bench_serve_with_what_was_varied() -> None:
    reading, serve = read(RUN), read(NEWEST)

    assert reading.tool == "vllm.bench_sweep"
    assert (reading.metrics, reading.definition) == (serve.metrics, serve.definition)
    assert reading.condition == dict(serve.condition) | {
        "concurrency": 16,
        "max_num_seqs": 32,
        "tp": 2,
        "input_tokens": 1024,
        "output_tokens": 128,
        "compilation_config.pass_config": '{"fuse_norm": true}',
    }


@pytest.mark.parametrize("release", ["0.11.1", "0.25.1", "0.33.0"])
def test_nothing_that_a_release_measures_is_taken_for_varied(release: str) -> None:
    result = OF_RELEASE[release]
    more = {"p99.9_ttft_ms": 99.0, "spec_decode_num_drafts": 5, "mean_client_queue_time_ms": 1.0}

    assert read(result | more | {"run_number": 0}).condition == read(result).condition


def test_a_summary_holds_one_result_a_run() -> None:
    runs = [RUN | {"run_number": number, "median_ttft_ms": 70.0 + number} for number in range(3)]
    found = read_bytes(json.dumps(runs, indent=4).encode(), file="summary.json")

    assert found.unreadable == ()
    assert [each.metrics["ttft_p50"] for each in found.readings] == pytest.approx(
        [0.070, 0.071, 0.072]
    )


def test_a_warm_up_is_never_taken_for_a_run() -> None:
    assert read(RUN | {"run_number": -1}).condition["warm_up"] is True
    assert "warm_up" not in read(RUN).condition


def test_a_run_that_gave_no_result_is_one_where_every_request_failed() -> None:
    reading = read(FAILED)

    assert reading.validity is Validity.INVALID
    assert {"all_failed", "requests_failed"} <= set(failures(reading))
    assert reading.facts.requests_asked == 200
    assert reading.condition == {
        "max_num_seqs": 512,
        "concurrency": 64,
        "requests": 200,
        "error": "CalledProcessError",
    }
    assert reading.metrics == {}


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        pytest.param(RUN | {"completed": 50, "failed": 50}, "requests_failed", id="half failed"),
        pytest.param(RUN | ALL_FAILED, "all_failed", id="all failed"),
        pytest.param(RUN | {"p99_itl_ms": float("inf")}, "value_not_finite", id="infinite"),
    ],
)
def test_a_run_is_judged_as_one_of_bench_serve(result: dict[str, Any], expected: str) -> None:
    assert expected in failures(read(result))


def test_a_secret_that_was_varied_is_not_kept() -> None:
    condition = read(RUN | {"api_key": "sk-12345", "header": {"api_key": "sk-12345"}}).condition

    assert "sk-12345" not in str(condition)


def test_what_was_varied_is_kept_within_bounds() -> None:
    many = {f"flag_{number}": "x" * 10_000 for number in range(1000)}
    condition = read(RUN | many).condition

    assert len(condition) < 120
    assert max(len(str(value)) for value in condition.values()) <= 200


@pytest.mark.parametrize("result", [RUN, FAILED], ids=["run", "failed"])
def test_no_other_tool_takes_a_run_for_its_own(result: dict[str, Any]) -> None:
    assert [tool.name for tool in TOOLS if tool.recognises(result)] == ["vllm.bench_sweep"]


@given(changes(RUN), st.dictionaries(st.text(max_size=5), ANY_JSON, max_size=3))
def test_no_content_makes_a_run_fail(other: dict[str, object], more: dict[str, object]) -> None:
    (parsed,) = vllm_sweep.parse(RUN | more | other)

    json.dumps(dict(parsed.condition), allow_nan=False).encode()


@given(changes(FAILED))
def test_no_content_makes_a_failed_run_fail(other: dict[str, object]) -> None:
    (parsed,) = vllm_sweep.parse(FAILED | other)

    assert parsed.facts.requests_completed == 0


def test_nesting_beyond_reason_is_no_reason_to_fail() -> None:
    deep: object = 1
    for _ in range(100_000):
        deep = [deep]
    (parsed,) = vllm_sweep.parse(RUN | {"max_num_seqs": deep})

    assert parsed.condition["max_num_seqs"] == "nested beyond reason"
