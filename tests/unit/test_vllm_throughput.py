"""Results of vllm bench throughput: all requests at once in one engine, with no server."""

from typing import Any

import pytest
from hypothesis import given

from service.domain.validity import Validity
from service.formats.tools import vllm_throughput
from service.formats.tools.registry import TOOLS, read_file
from tests.any_json import changes
from tests.shared_data import shared
from tests.vllm_results import failures, problems, read

OLD: dict[str, Any] = {
    "elapsed_time": 80.0,
    "num_requests": 16,
    "total_num_tokens": 65536,
    "requests_per_second": 0.2,
    "tokens_per_second": 819.2,
}
NEW: dict[str, Any] = {"model_id": "/models/tiny-llama"} | OLD


@pytest.mark.parametrize(
    ("result", "releases", "condition"),
    [
        pytest.param(OLD, "<0.32", {"load": "batch", "requests": 16}, id="old"),
        pytest.param(
            NEW, ">=0.32", {"load": "batch", "requests": 16, "model": "tiny-llama"}, id="new"
        ),
    ],
)
def test_old_and_new_releases_give_the_same_values(
    result: dict[str, Any], releases: str, condition: dict[str, Any]
) -> None:
    reading = read(result)

    assert (reading.tool, reading.tool_version) == ("vllm.bench_throughput", releases)
    assert reading.condition == condition
    assert reading.metrics == {
        "request_throughput": 0.2,
        "total_throughput": 819.2,
        "duration": 80.0,
    }
    assert failures(reading) == []
    assert reading.validity is Validity.INCOMPLETE


@pytest.mark.parametrize(
    ("change", "code"),
    [
        pytest.param({"num_requests": 0}, "all_failed", id="no request"),
        pytest.param(
            {"requests_per_second": 0.0, "tokens_per_second": 0}, "all_failed", id="all failed"
        ),
        pytest.param({"tokens_per_second": float("nan")}, "value_not_finite", id="NaN"),
    ],
)
def test_what_the_file_tells_against_itself_makes_it_invalid(
    change: dict[str, Any], code: str
) -> None:
    assert code in failures(read(OLD | change))


def test_nulls_and_text_are_taken_as_they_come() -> None:
    reading = read(OLD | {"elapsed_time": None, "tokens_per_second": "819.2", "num_requests": "x"})

    assert reading.metrics == {"request_throughput": 0.2, "total_throughput": 819.2}
    assert reading.facts.requests_completed is None


@pytest.mark.parametrize("key", sorted(OLD))
def test_an_object_that_lacks_a_key_is_of_no_tool(key: str) -> None:
    assert problems({name: OLD[name] for name in OLD if name != key}) == ["unknown_tool"]


@pytest.mark.parametrize("result", [OLD, NEW], ids=["old", "new"])
def test_no_other_tool_takes_a_result_for_its_own(result: dict[str, Any]) -> None:
    assert [tool.name for tool in TOOLS if tool.recognises(result)] == ["vllm.bench_throughput"]


@pytest.mark.parametrize(
    ("name", "throughput", "lengths"),
    [
        ("nvidia-throughput_test_ip2048_op2048_np16.json", 781.508, (None, None)),
        ("Meta-Llama-3.1-405B-Instruct-FP8-KV_throughput_req128_in128_out2048_.json", 1424.5032,
         (128, 2048)),
    ],
    ids=["as the tool writes it", "with lengths of a copy"],
)  # fmt: skip
def test_public_files_are_read(
    name: str, throughput: float, lengths: tuple[int | None, int | None]
) -> None:
    (reading,) = read_file(shared(f"bench/vllm_bench_throughput/0.6-ish/{name}")).readings
    told = reading.condition.get("input_tokens"), reading.condition.get("output_tokens")

    assert reading.metrics["total_throughput"] == pytest.approx(throughput, rel=1e-5)
    assert told == lengths
    assert failures(reading) == []


@given(changes(NEW.keys() | {"input", "output", "ouput"}))
def test_no_content_of_a_known_key_makes_it_fail(other: dict[str, object]) -> None:
    (parsed,) = vllm_throughput.parse(NEW | other)

    assert not parsed.facts.streamed
