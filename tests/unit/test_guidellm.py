"""Reports of guidellm, as JSON and as CSV: the same run reads the same from both."""

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.reading import Reading, Readings
from service.domain.validity import Severity, Validity
from service.formats.tools import guidellm, guidellm_csv
from service.formats.tools.registry import read_bytes, read_file
from tests.odd_documents import changed, values
from tests.shared_data import shared


def distribution(mean: float, *, count: int = 96, **percentiles: float) -> dict[str, Any]:
    shares = {"p90": mean, "p95": mean, "p99": mean} | percentiles
    return {
        "successful": {
            "mean": mean,
            "median": mean,
            "count": count,
            "total_sum": mean * count,
            "percentiles": shares,
        }
    }


def benchmark(**strategy: Any) -> dict[str, Any]:
    return {
        "config": {
            "strategy": {"type_": "concurrent", "streams": 8} | strategy,
            "constraints": {"max_requests": {"args": {"count": 96}}},
            "backend": {
                "model": "/models/tiny",
                "request_format": "/v1/chat/completions",
                "stream": True,
            },
        },
        "scheduler_metrics": {"measure_start_time": 100.0, "measure_end_time": 140.0},
        "duration": 41.0,
        "metrics": {
            "request_totals": {"successful": 96, "errored": 0, "incomplete": 0, "total": 96},
            "requests_per_second": distribution(2.4),
            "prompt_tokens_per_second": distribution(307.2),
            "output_tokens_per_second": distribution(153.6),
            "tokens_per_second": distribution(460.8),
            "request_concurrency": distribution(7.9),
            "request_latency": distribution(3.3),
            "time_to_first_token_ms": distribution(70.0, p95=90.0, p99=95.0),
            "inter_token_latency_ms": distribution(51.0),
            "time_per_output_token_ms": distribution(52.0),
            "prompt_token_count": distribution(128.0),
            "output_token_count": distribution(64.0),
        },
    }


def report(*benchmarks: dict[str, Any]) -> dict[str, Any]:
    data = {"kind": "synthetic_text", "prompt_tokens": 128, "output_tokens": 64}
    return {
        "metadata": {"version": 2, "guidellm_version": "0.8.1"},
        "config": {"spec": {"data": [data | {"output_tokens_stdev": None}]}},
        "benchmarks": list(benchmarks),
    }


def read(document: object) -> Readings:
    return read_bytes(json.dumps(document).encode(), file="x.json")


def reading(document: object) -> Reading:
    (only,) = read(document).readings
    return only


def failures(found: Reading) -> list[str]:
    return [each.code for each in found.findings if each.severity is Severity.FAILURE]


def with_totals(**totals: int | None) -> dict[str, Any]:
    changed_one = benchmark()
    changed_one["metrics"]["request_totals"] |= totals
    return changed_one


def test_values_are_in_base_units_under_our_names() -> None:
    metrics = reading(report(benchmark())).metrics

    assert metrics["ttft_p50"] == pytest.approx(0.070)
    assert metrics["ttft_p95"] == pytest.approx(0.090)
    assert metrics["e2e_mean"] == pytest.approx(3.3)
    assert metrics["output_throughput"] == pytest.approx(153.6)
    assert metrics["total_throughput"] == pytest.approx(460.8)
    assert metrics["duration"] == pytest.approx(40)


def test_what_it_calls_time_between_tokens_is_our_time_per_token() -> None:
    metrics = reading(report(benchmark())).metrics

    assert metrics["tpot_p50"] == pytest.approx(0.051)
    assert not any(name.startswith("itl") for name in metrics)


def test_the_condition_is_what_the_report_tells() -> None:
    assert reading(report(benchmark())).condition == {
        "strategy": "concurrent",
        "load": "closed",
        "concurrency": 8,
        "dataset": "synthetic_text",
        "input_tokens": 128,
        "output_tokens": 64,
        "model": "tiny",
        "request_format": "/v1/chat/completions",
        "requests": 96,
    }


def test_every_strategy_of_a_sweep_is_a_result_of_its_own() -> None:
    sweep = report(
        benchmark(type_="synchronous"), benchmark(type_="constant", rate=4.0), benchmark()
    )
    told = [each.condition for each in read(sweep).readings]

    assert [each["load"] for each in told] == ["closed", "open", "closed"]
    assert [each.get("concurrency") for each in told] == [1, None, 8]
    assert told[1]["request_rate"] == 4.0


def test_a_good_run_is_incomplete_and_nothing_else_ails_it() -> None:
    found = reading(report(benchmark()))

    assert found.validity is Validity.INCOMPLETE
    assert failures(found) == []


@pytest.mark.parametrize(
    ("totals", "found"),
    [
        pytest.param({"successful": 48, "errored": 48}, ["requests_failed"], id="half failed"),
        pytest.param(
            {"successful": 90, "incomplete": 6}, ["requests_failed"], id="six were never answered"
        ),
    ],
)
def test_requests_that_failed_make_it_invalid(totals: dict[str, int], found: list[str]) -> None:
    told = with_totals(**totals)
    told["metrics"]["output_token_count"]["successful"]["total_sum"] = totals["successful"] * 64

    assert failures(reading(report(told))) == found


def test_requests_cut_off_at_the_end_of_the_time_are_no_failures() -> None:
    timed = with_totals(successful=90, incomplete=6)
    timed["config"]["constraints"] = {"max_duration": {"args": {"duration": 40}}}
    timed["metrics"]["output_token_count"]["successful"]["total_sum"] = 90 * 64
    found = reading(report(timed))

    assert failures(found) == []
    assert found.condition["max_duration_s"] == 40


def test_all_failed_is_invalid_and_has_no_latency() -> None:
    told = with_totals(successful=0, errored=96)
    for name, each in told["metrics"].items():
        if name != "request_totals":
            each["successful"] = distribution(0.0, count=0)["successful"]
    found = reading(report(told))

    assert "requests_failed" in failures(found)
    assert set(found.metrics) == {"duration"}


def test_fewer_tokens_than_asked_for_are_invalid() -> None:
    told = benchmark()
    told["metrics"]["output_token_count"]["successful"]["total_sum"] = 96 * 32

    assert failures(reading(report(told))) == ["output_tokens_not_as_asked"]


def test_lengths_with_a_spread_are_not_held_to_one_length() -> None:
    document = report(benchmark())
    document["config"]["spec"]["data"][0]["output_tokens_stdev"] = 8

    assert reading(document).facts.output_lengths is None


def test_a_value_that_is_not_finite_is_invalid() -> None:
    told = benchmark()
    told["metrics"]["tokens_per_second"]["successful"]["mean"] = float("inf")

    assert failures(reading(report(told))) == ["value_not_finite"]


def test_numbers_may_be_text_and_sections_may_be_null() -> None:
    told = benchmark()
    told["metrics"]["request_latency"]["successful"]["mean"] = "3.3"
    told["metrics"]["request_concurrency"] = None
    told["scheduler_metrics"] = None
    metrics = reading(report(told)).metrics

    assert metrics["e2e_mean"] == pytest.approx(3.3)
    assert metrics["duration"] == pytest.approx(41)
    assert "concurrency" not in metrics


@pytest.mark.parametrize(
    ("metadata", "definition"),
    [
        pytest.param({"version": 2, "guidellm_version": "0.8.1"}, 3, id="second version"),
        pytest.param({"version": 1, "guidellm_version": "0.4.0"}, 2, id="first version"),
        pytest.param({}, 1, id="before it had one"),
    ],
)
def test_the_definition_follows_the_reports_version(
    metadata: dict[str, Any], definition: int
) -> None:
    found = reading(report(benchmark()) | {"metadata": metadata})

    assert found.definition == definition
    assert found.tool_version == metadata.get("guidellm_version")


def test_a_report_without_a_version_keeps_what_was_asked_under_another_name() -> None:
    old = benchmark()
    old["args"] = {"strategy": {"type_": "concurrent", "streams": 8}, "max_duration": 40}
    del old["config"]
    old["request_totals"] = old["metrics"].pop("request_totals") | {"incomplete": 6}
    found = reading({"benchmarks": [old]})

    assert found.condition == {"strategy": "concurrent", "load": "closed", "concurrency": 8}
    assert failures(found) == []


def test_a_report_without_benchmarks_says_so() -> None:
    assert [each.code for each in read(report()).unreadable] == ["no_results"]


def test_a_list_called_benchmarks_of_another_program_is_not_taken() -> None:
    found = read({"benchmarks": [{"name": "BM_copy", "real_time": 12.0}]})

    assert [each.code for each in found.unreadable] == ["unknown_tool"]


def test_the_csv_of_a_run_reads_as_its_json_does() -> None:
    (of_json,) = read_file(shared("bench/guidellm/0.8.1-mock/ok.json")).readings
    (of_csv,) = read_file(shared("bench/guidellm/0.8.1-mock/ok.csv")).readings

    assert of_csv.metrics == pytest.approx(dict(of_json.metrics))
    assert of_csv.condition == of_json.condition
    assert of_csv.facts == of_json.facts
    assert (of_csv.tool, of_csv.tool_version, of_csv.definition) == ("guidellm", "0.8.1", 3)
    assert of_csv.line == 4


def test_the_two_rates_of_a_real_report_are_two_results() -> None:
    found = read_file(shared("bench/guidellm/0.8.0.dev18/guidellm_report_v2.json"))

    assert [each.condition["request_rate"] for each in found.readings] == [2.0, 4.0]
    assert found.readings[0].metrics["ttft_mean"] == pytest.approx(0.01148, rel=1e-3)


COLUMNS = (
    ("Run Info", "Run ID", "", "7"),
    ("Benchmark", "Strategy", "", "constant@4.0"),
    ("Benchmark", "Constraints", "", '{"max_duration": {"args": {"duration": 40}}}'),
    ("Timings", "Duration", "Sec", "40.0"),
    ("Request Counts", "Successful", "", "96"),
    ("Request Counts", "Errored", "", "48"),
    ("Request Counts", "Incomplete", "", "3"),
    ("Request Latency", "Successful Sec", "Mean", "3.3"),
    ("Time to First Token", "Successful ms", "Median", "64.0"),
    ("Time to First Token", "Successful ms", "Percentiles", str(list(range(60, 71)))),
    ("Token Throughput", "Successful Output Tokens/Sec", "Mean", "NaN"),
)


def written(columns: tuple[tuple[str, str, str, str], ...]) -> str:
    stream = io.StringIO(newline="")
    csv.writer(stream).writerows(zip(*columns, strict=True))
    return stream.getvalue()


def test_a_row_of_csv_tells_its_failures_and_its_percentiles() -> None:
    (found,) = read_bytes(written(COLUMNS).encode(), file="x.csv").readings

    assert failures(found) == ["requests_failed", "value_not_finite"]
    assert found.condition["request_rate"] == 4.0
    assert found.metrics["ttft_p90"] == pytest.approx(0.067)
    assert found.metrics["ttft_p95"] == pytest.approx(0.068)
    assert found.facts.requests_asked == 144


def test_a_row_of_another_length_costs_no_other() -> None:
    found = read_bytes((written(COLUMNS) + "short,row\r\n").encode(), file="x.csv")

    assert len(found.readings) == 1
    assert [(each.line, each.code) for each in found.unreadable] == [(5, "wrong_row")]


@given(changed([report(benchmark(), benchmark(type_="poisson", rate=2))]) | values())
def test_no_object_breaks_it(document: Any) -> None:
    if isinstance(document, dict) and guidellm.recognises(document):
        assert guidellm.parse(document)


@given(st.lists(st.lists(st.text(max_size=12), max_size=6), max_size=5), st.integers(0, 900))
def test_no_rows_break_its_csv(rows: list[list[str]], cut: int) -> None:
    stream = io.StringIO(newline="")
    csv.writer(stream).writerows(rows)
    for content in (stream.getvalue(), written(COLUMNS)[:cut] + stream.getvalue()):
        lines = content.splitlines(keepends=True)
        guidellm_csv.recognises(lines)
        list(guidellm_csv.parse(lines))
