"""The one door to result files: each tool is known by its keys, and files may not be there."""

import io

import pytest

from service.domain.reading import Reading
from service.domain.validity import Validity
from service.formats.tools import bench_serving
from service.formats.tools.registry import read_bytes, read_file
from service.formats.tools.results import results_in
from service.formats.tools.text import MAX_PROBLEMS
from service.formats.tools.tool import Document, Found, Parsed, Problem, Tool
from tests.results import lines, serving
from tests.shared_data import shared

NEGATIVE = -1.0
ROW = {"run_name": "default", "batch_size": 4, "input_len": 256, "output_len": 32}
IN_PROCESS = ROW | {
    "prefill_latency": 0.05,
    "prefill_throughput": 20480.0,
    "median_decode_latency": 0.009,
    "median_decode_throughput": 444.0,
    "total_latency": 0.33,
    "overall_throughput": 3490.0,
}
SERVER_OLD = ROW | {"latency": 0.5, "output_throughput": 256.0, "overall_throughput": 2304.0}
SERVER_NEW = SERVER_OLD | {"last_gen_throughput": 300.0}
SERVER_NEWEST = SERVER_NEW | {
    "input_throughput": 5000.0,
    "last_ttft": 0.2,
    "acc_length": -1.0,
    "cache_hit_rate": None,
    "total_output_tokens": 128,
    "num_early_stopped": 0,
}
OFFLINE = {
    "backend": "engine",
    "successful_requests": 100,
    "total_latency": 60.0,
    "total_input_tokens": 1000,
    "total_output_tokens": 2000,
    "request_throughput": 1.7,
    "input_throughput": 16.7,
    "output_throughput": 33.3,
    "total_throughput": 50.0,
    "last_gen_throughput": 40.0,
}


def read(result: dict[str, object]) -> Reading:
    (reading,) = read_bytes(lines([result]), file="result.jsonl").readings
    return reading


@pytest.mark.parametrize(
    ("result", "tool"),
    [
        (serving(), "sglang.bench_serving"),
        (IN_PROCESS, "sglang.bench_one_batch"),
        (SERVER_OLD, "sglang.bench_one_batch_server"),
        (OFFLINE, "sglang.bench_offline_throughput"),
    ],
)
def test_a_tool_is_known_by_the_keys_of_its_results(result: dict[str, object], tool: str) -> None:
    assert read(result).tool == tool


def test_a_server_that_does_not_speculate_has_no_accept_length_and_is_valid() -> None:
    without, with_length = read(SERVER_NEWEST), read(SERVER_NEWEST | {"acc_length": 2.4})
    wrong = read(SERVER_NEWEST | {"acc_length": -2.0})

    assert "accept_length" not in without.metrics
    assert with_length.metrics["accept_length"] == pytest.approx(2.4)
    assert without.validity == with_length.validity
    assert without.facts.not_finite == ()
    assert wrong.facts.not_finite == ("accept_length",)


def test_results_of_several_tools_may_stand_in_one_file() -> None:
    found = read_bytes(lines([serving(), IN_PROCESS, {"accuracy": 0.9}]), file="result.jsonl")

    assert [reading.line for reading in found.readings] == [1, 2]
    assert [(each.line, each.code) for each in found.unreadable] == [(3, "unknown_tool")]


def test_a_static_batch_waits_for_one_prefill_and_steps_together() -> None:
    reading = read(IN_PROCESS)

    assert reading.metrics["ttft_p50"] == 0.05
    assert reading.metrics["tpot_p50"] == 0.009
    assert reading.metrics["e2e_p50"] == 0.33
    assert reading.condition == {
        "load": "batch",
        "concurrency": 4,
        "input_tokens": 256,
        "output_tokens": 32,
    }


def test_a_batch_of_one_output_token_has_no_step() -> None:
    row = {name: value for name, value in IN_PROCESS.items() if "decode" not in name}

    assert "tpot_p50" not in read(row | {"output_len": 1}).metrics


@pytest.mark.parametrize(
    ("result", "definition", "version"),
    [
        pytest.param(SERVER_OLD, 1, "<0.4.6", id="over the whole latency"),
        pytest.param(SERVER_NEW, 2, ">=0.4.6,<0.5.6", id="after the first token"),
        pytest.param(SERVER_NEWEST, 2, ">=0.5.20", id="after the first token, newest"),
    ],
)
def test_one_key_of_two_meanings_has_two_definitions(
    result: dict[str, object], definition: int, version: str
) -> None:
    assert (read(result).definition, read(result).tool_version) == (definition, version)


def test_the_last_first_token_is_the_first_only_of_a_batch_of_one() -> None:
    assert "ttft_p50" not in read(SERVER_NEWEST).metrics
    assert read(SERVER_NEWEST | {"batch_size": 1, "total_output_tokens": 32}).metrics[
        "ttft_p50"
    ] == pytest.approx(0.2)


def test_minus_one_and_null_are_unknown() -> None:
    assert not {"accept_length", "cache_hit"} & read(SERVER_NEWEST).metrics.keys()


def test_a_batch_that_stopped_early_is_invalid() -> None:
    assert read(SERVER_NEWEST | {"total_output_tokens": 90}).validity is Validity.INVALID


def test_the_offline_tool_does_not_tell_how_many_requests_failed() -> None:
    assert read(OFFLINE).validity is Validity.INCOMPLETE
    assert read(OFFLINE).metrics["output_throughput"] == 33.3


def test_an_object_that_stands_in_a_log_is_read_and_so_is_the_log() -> None:
    log = b"[2026-11-30 02:00:00] max_total_num_tokens=4096, chunked_prefill_size=2048\n"
    found = read_bytes(log + lines([serving()]) + log + lines([IN_PROCESS]), file="all.log")

    assert [(reading.tool, reading.line) for reading in found.readings] == [
        ("sglang.bench_serving", 2),
        ("sglang.bench_one_batch", 4),
        ("sglang.server_log", 1),
    ]
    assert found.unreadable == ()


def test_text_that_no_tool_writes_is_one_problem_whatever_its_length() -> None:
    (part,) = read_bytes(b"# Notes\n\nsome\nmore\n" * 1000, file="notes.md").unreadable

    assert (part.line, part.code) == (None, "unknown_text")


def test_an_object_built_otherwise_than_its_tool_builds_it_costs_no_other() -> None:
    def parse(_: Document) -> tuple[Parsed]:
        raise KeyError("benchmarks")

    tool = Tool("odd", lambda document: "odd" in document, parse)
    stream = io.BufferedReader(io.BytesIO(lines([{"odd": 1}, serving()])))

    problem, result = results_in(stream, (tool, bench_serving.TOOL), ())

    assert isinstance(problem, Problem)
    assert (problem.line, problem.code) == (1, "malformed")
    assert isinstance(result, Found)


@pytest.mark.parametrize(
    ("name", "tool", "count"),
    [
        ("sglang_bench_one_batch/frgossen/result.jsonl", "sglang.bench_one_batch", 6),
        (
            "sglang_bench_one_batch_server/0.4.4-ish_old_formula/result_torch_tp4.jsonl",
            "sglang.bench_one_batch_server",
            6,
        ),
    ],
)
def test_real_rows_are_read(name: str, tool: str, count: int) -> None:
    readings = read_file(shared(f"bench/{name}")).readings

    assert [reading.tool for reading in readings] == [tool] * count


def test_no_other_tool_of_the_samples_is_taken_for_one_of_these() -> None:
    folder = shared("bench")
    others = [
        path
        for path in sorted(folder.rglob("*.json*"))
        if not path.parts[len(folder.parts)].startswith(("sglang_", "odd_synthetic"))
    ]

    assert others
    readings = [reading for path in others for reading in read_file(path).readings]
    assert not [each for each in readings if each.tool.startswith("sglang")]


QUANTITIES = (
    "median_ttft_ms",
    "p99_ttft_ms",
    "mean_e2e_latency_ms",
    "median_tpot_ms",
    "median_itl_ms",
    "output_throughput",
    "request_throughput",
    "duration",
    "concurrency",
)


@pytest.mark.parametrize("name", QUANTITIES)
@pytest.mark.parametrize("value", [NEGATIVE, "-inf", float("nan"), "1e999"], ids=str)
def test_what_no_quantity_can_be_is_invalid_and_not_merely_absent(name: str, value: object) -> None:
    (found,) = read_bytes(lines([serving(**{name: value})]), file="x").readings

    assert found.validity is Validity.INVALID
    assert "value_not_finite" in [finding.code for finding in found.findings]


def test_problems_without_number_are_counted_and_cost_no_good_result() -> None:
    others = [{"somebody": number} for number in range(MAX_PROBLEMS + 500)]

    found = read_bytes(lines([*others, serving()]), file="x")

    assert len(found.readings) == 1
    assert len(found.unreadable) == MAX_PROBLEMS + 1
    assert found.unreadable[-1].code == "too_many_problems"
    assert found.unreadable[-1].message.startswith("500 more")
