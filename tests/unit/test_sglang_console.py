"""What bench_serving prints: the arguments tell what was asked for, also of a run that died."""

import pytest

from service.domain.reading import Reading
from service.domain.validity import Severity
from service.formats.tools.registry import read_bytes, read_file
from tests.shared_data import shared

ARGUMENTS = (
    "Namespace(backend='sglang', dataset_name='random', num_prompts=96, sharegpt_output_len=None, "
    "random_input_len=128, random_output_len=64, random_range_ratio=1.0, request_rate=inf, "
    "max_concurrency=8, seed=1, disable_ignore_eos=False, temperature=0.0, warmup_requests=1)\n"
)
TABLE = """
============ Serving Benchmark Result ============
Backend:                                 sglang    
Traffic request rate:                    inf       
Max request concurrency:                 8         
Successful requests:                     96        
Benchmark duration (s):                  40.00     
Total input tokens:                      12288     
Total generated tokens:                  6144      
Total generated tokens (retokenized):    6144      
Request throughput (req/s):              2.40      
Output token throughput (tok/s):         153.60    
Concurrency:                             7.90      
----------------End-to-End Latency----------------
Median E2E Latency (ms):                 3310.00   
---------------Time to First Token----------------
Median TTFT (ms):                        70.00     
-----Time per Output Token (excl. 1st token)------
Median TPOT (ms):                        51.00     
---------------Inter-Token Latency----------------
Median ITL (ms):                         50.00     
Max ITL (ms):                            90.00     
==================================================
"""  # noqa: W291 — the tool pads its values
DIED = "Traceback (most recent call last):\n  File x\nIndexError: index -1 is out of bounds\n"


def readings(text: str) -> tuple[Reading, ...]:
    return read_bytes(text.encode(), file="bench.log").readings


def failures(reading: Reading) -> list[str]:
    return [each.code for each in reading.findings if each.severity is Severity.FAILURE]


def test_the_table_is_read_in_base_units() -> None:
    (reading,) = readings(ARGUMENTS + TABLE)

    assert reading.tool == "sglang.bench_serving_console"
    assert reading.metrics["output_throughput"] == 153.6
    assert reading.metrics["ttft_p50"] == pytest.approx(0.070)
    assert reading.metrics["e2e_p50"] == pytest.approx(3.31)
    assert failures(reading) == []


def test_the_arguments_tell_what_the_result_file_does_not() -> None:
    (reading,) = readings(f"benchmark_args={ARGUMENTS}\n{ARGUMENTS}{TABLE}")

    assert (reading.facts.requests_asked, reading.facts.requests_completed) == (96, 96)
    assert reading.condition["requests"] == 96
    assert reading.condition["concurrency"] == 8
    assert reading.condition["request_rate"] == "inf"
    assert reading.condition["ignore_eos"] is True


def test_a_table_alone_is_read_and_tells_its_load() -> None:
    (reading,) = readings(TABLE)

    assert reading.condition["concurrency"] == 8
    assert reading.facts.requests_asked is None


def test_several_runs_in_one_console_are_several_readings() -> None:
    found = readings((ARGUMENTS + TABLE) * 2 + ARGUMENTS + DIED)

    assert [each.line for each in found] == [1, 25, 49]
    assert failures(found[2]) == ["all_failed", "requests_failed"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param(ARGUMENTS, "no_results", id="nothing more"),
        pytest.param(ARGUMENTS + TABLE[:400], "truncated", id="half a table"),
    ],
)
def test_a_run_that_was_cut_off_is_a_problem_and_no_reading(text: str, code: str) -> None:
    found = read_bytes(text.encode(), file="bench.log")

    assert found.readings == ()
    assert [part.code for part in found.unreadable] == [code]


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("sglang-cpu/dead.log", 4),
        ("bench/sglang_bench_serving_mock/0.5.23/0.5.23__sglang__fail_all.log", 12),
    ],
)
def test_a_real_run_without_a_result_file_is_all_failed(name: str, asked: int) -> None:
    (reading,) = read_file(shared(name)).readings

    assert failures(reading) == ["all_failed", "requests_failed"]
    assert (reading.facts.requests_completed, reading.facts.requests_asked) == (0, asked)


def test_a_real_run_of_which_no_text_came_back_is_invalid() -> None:
    (reading,) = read_file(shared("sglang-cpu/toolong.log")).readings

    assert failures(reading) == ["no_text_came_back", "ttft_zero", "itl_zero"]
    assert reading.metrics["output_throughput"] == 721.4
