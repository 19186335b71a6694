"""Results of aiperf and genai-perf: the summary as JSON and as CSV."""

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.reading import Reading, Readings
from service.domain.validity import Severity, Validity
from service.formats.tools import aiperf, aiperf_csv
from service.formats.tools.aiperf_arguments import asked
from service.formats.tools.registry import read_bytes, read_file
from tests.odd_documents import changed, values
from tests.shared_data import shared

STATISTICS = ("avg", "p50", "p90", "p95", "p99")


def spread(value: float, unit: str = "ms") -> dict[str, Any]:
    return {"unit": unit} | dict.fromkeys(STATISTICS, value)


def single(value: float, unit: str) -> dict[str, Any]:
    return {"unit": unit, "avg": value}


SUMMARY: dict[str, Any] = {
    "request_latency": spread(3300.0),
    "time_to_first_token": spread(70.0),
    "inter_token_latency": spread(51.0),
    "inter_chunk_latency": spread(50.0),
    "request_throughput": single(2.4, "requests/sec"),
    "output_token_throughput": single(153.6, "tokens/sec"),
    "total_token_throughput": single(460.8, "tokens/sec"),
    "benchmark_duration": single(40.0, "sec"),
    "request_count": single(96.0, "requests"),
    "total_isl": single(96.0 * 128, "tokens"),
    "total_osl": single(96.0 * 64, "tokens"),
    "total_usage_completion_tokens": single(96.0 * 64, "tokens"),
}
PHASES = {
    "models": {"items": [{"name": "/models/tiny"}]},
    "endpoint": {"streaming": True, "extra": {"ignore_eos": True}},
    "datasets": [
        {
            "type": "synthetic",
            "prompts": {"isl": {"mean": 128.0, "stddev": 0}, "osl": {"mean": 64.0}},
        }
    ],
    "phases": [
        {"name": "warmup", "kind": "warmup", "requests": 4, "concurrency": 1},
        {"name": "profiling", "kind": "profiling", "requests": 96, "concurrency": 8},
    ],
}
SECTIONS = {
    "endpoint": {"model_names": ["org/tiny"], "streaming": True},
    "loadgen": {"concurrency": 8, "request_count": 96},
    "input": {
        "prompt": {"input_tokens": {"mean": 128}, "output_tokens": {"mean": 64}},
        "extra": [["ignore_eos", True]],
    },
}
COMMAND_LINE = {
    "model": ["tiny"],
    "endpoint": None,
    "streaming": True,
    "concurrency": 8,
    "request_rate": None,
    "request_count": 96,
    "synthetic_input_tokens_mean": 128,
    "synthetic_input_tokens_stddev": 0,
    "output_tokens_mean": 64,
    "extra_inputs": ["ignore_eos:true"],
}
AIPERF: dict[str, Any] = SUMMARY | {
    "schema_version": "1.4",
    "aiperf_version": "0.13.0",
    "input_config": PHASES,
    "was_cancelled": False,
    "error_summary": [],
}
GENAI_PERF: dict[str, Any] = {
    name: value
    for name, value in SUMMARY.items()
    if not name.startswith(("inter_chunk", "total", "benchmark"))
} | {"input_config": COMMAND_LINE}


def read(document: object) -> Readings:
    return read_bytes(json.dumps(document).encode(), file="x.json")


def reading(document: object) -> Reading:
    (only,) = read(document).readings
    return only


def failures(found: Reading) -> list[str]:
    return [each.code for each in found.findings if each.severity is Severity.FAILURE]


def test_values_are_brought_from_the_unit_they_are_told_in() -> None:
    found = reading(AIPERF)

    assert (found.tool, found.tool_version) == ("aiperf", "0.13.0")
    assert found.metrics["ttft_p50"] == pytest.approx(0.070)
    assert found.metrics["e2e_p90"] == pytest.approx(3.3)
    assert found.metrics["output_throughput"] == pytest.approx(153.6)
    assert found.metrics["duration"] == pytest.approx(40)


def test_a_latency_told_in_seconds_is_not_taken_for_milliseconds() -> None:
    assert reading(AIPERF | {"time_to_first_token": spread(0.07, "s")}).metrics[
        "ttft_p50"
    ] == pytest.approx(0.070)


def test_what_it_calls_time_between_tokens_is_our_time_per_token() -> None:
    metrics = reading(AIPERF).metrics

    assert metrics["tpot_p50"] == pytest.approx(0.051)
    assert metrics["itl_p50"] == pytest.approx(0.050)


@pytest.mark.parametrize(
    "unit", [pytest.param("fortnights", id="of no clock"), pytest.param(None, id="none at all")]
)
def test_a_unit_that_is_not_known_is_told_and_nothing_is_guessed(unit: str | None) -> None:
    found = read(AIPERF | {"time_to_first_token": {"unit": unit, "avg": 70.0}})

    assert found.readings == ()
    assert [each.code for each in found.unreadable] == ["unknown_unit"]
    assert "time_to_first_token" in found.unreadable[0].message


@pytest.mark.parametrize(
    "config",
    [
        pytest.param(PHASES, id="phases and datasets"),
        pytest.param(SECTIONS, id="endpoint, input and loadgen"),
        pytest.param(COMMAND_LINE, id="genai-perf's command line"),
    ],
)
def test_each_shape_of_the_configuration_tells_the_same_condition(config: dict[str, Any]) -> None:
    told = asked(config).condition
    told.pop("dataset", None)

    assert told == {
        "model": "tiny",
        "load": "closed",
        "concurrency": 8,
        "requests": 96,
        "input_tokens": 128,
        "output_tokens": 64,
        "ignore_eos": True,
    }


def test_with_a_rate_the_load_is_open_and_the_default_concurrency_is_left_out() -> None:
    told = asked(COMMAND_LINE | {"request_rate": 2.5, "concurrency": 1}).condition

    assert told["load"] == "open"
    assert told["request_rate"] == 2.5
    assert "concurrency" not in told


def test_of_several_measured_phases_none_is_taken_for_all() -> None:
    one = {"name": "profiling", "kind": "profiling", "concurrency": 8}

    assert "concurrency" not in asked(PHASES | {"phases": [one, one]}).condition


@pytest.mark.parametrize(
    "document", [pytest.param(AIPERF, id="aiperf"), pytest.param(GENAI_PERF, id="genai-perf")]
)
def test_a_good_run_is_incomplete_and_nothing_else_ails_it(document: dict[str, Any]) -> None:
    found = reading(document)

    assert found.validity is Validity.INCOMPLETE
    assert failures(found) == []


def test_genai_perf_is_told_from_aiperf_by_what_only_the_newer_writes() -> None:
    assert reading(GENAI_PERF).tool == "genai-perf"
    assert reading(AIPERF).tool == "aiperf"


def test_half_failed_is_invalid() -> None:
    half = {
        "request_count": single(48, "requests"),
        "error_request_count": single(48, "requests"),
        "total_usage_completion_tokens": single(48.0 * 64, "tokens"),
    }

    assert "requests_failed" in failures(reading(AIPERF | half))


def test_all_failed_has_only_errors_and_is_invalid() -> None:
    document = {
        name: AIPERF[name]
        for name in ("schema_version", "aiperf_version", "input_config", "was_cancelled")
    } | {
        "error_summary": [{"error_details": {"code": 500}, "count": 96}],
        "error_request_count": single(96, "requests"),
    }
    found = reading(document)

    assert found.metrics == {}
    assert found.facts.requests_completed == 0
    assert "requests_failed" in failures(found)


def test_a_cancelled_run_of_unknown_length_is_not_taken_for_whole() -> None:
    found = reading(AIPERF | {"was_cancelled": True, "input_config": {}})

    assert found.facts.requests_asked is None


def test_a_run_that_stopped_before_all_requests_asked_for_is_invalid() -> None:
    few = {
        "request_count": single(60, "requests"),
        "total_usage_completion_tokens": single(60 * 64, "tokens"),
    }

    assert "requests_failed" in failures(reading(AIPERF | few))


def test_what_the_server_counted_is_the_output_and_the_text_is_counted_beside_it() -> None:
    found = reading(AIPERF | {"total_osl": single(96 * 128, "tokens")})

    assert found.facts.output_tokens == 96 * 64
    assert found.facts.retokenised == 96 * 128
    assert "retokenised_ratio_odd" in [each.code for each in found.findings]


def test_tokens_that_the_server_counted_are_of_another_definition() -> None:
    config = PHASES | {"endpoint": {"streaming": True, "use_server_token_count": True}}
    found = reading(AIPERF | {"input_config": config})

    assert found.definition == aiperf.BY_SERVER
    assert found.facts.retokenised is None
    assert reading(AIPERF).definition == aiperf.PER_REQUEST


def test_without_ignoring_the_end_mark_answers_may_be_shorter() -> None:
    config = PHASES | {"endpoint": {"streaming": True}}
    short = {"total_usage_completion_tokens": single(96 * 40, "tokens")}

    assert failures(reading(AIPERF | short | {"input_config": config})) == []
    assert failures(reading(AIPERF | short)) == ["output_tokens_not_as_asked"]


def test_of_the_first_genai_perf_the_time_between_tokens_is_left_out() -> None:
    nanoseconds = {
        name: spread(value * 1e6, "ns")
        for name, value in (
            ("request_latency", 3300.0),
            ("time_to_first_token", 70.0),
            ("inter_token_latency", 51.0),
        )
    }
    found = reading(GENAI_PERF | nanoseconds)

    assert found.definition == aiperf.GAPS
    assert found.metrics["ttft_p50"] == pytest.approx(0.070)
    assert "tpot_p50" not in found.metrics


def test_a_value_that_is_not_finite_is_invalid() -> None:
    found = reading(AIPERF | {"request_latency": spread(float("nan"))})

    assert failures(found) == ["value_not_finite"]


def test_numbers_may_be_text_and_metrics_may_be_null() -> None:
    found = reading(
        AIPERF | {"request_latency": spread(3300.0) | {"avg": "3300"}, "inter_chunk_latency": None}
    )

    assert found.metrics["e2e_mean"] == pytest.approx(3.3)
    assert "itl_p50" not in found.metrics


def table(*rows: tuple[str, ...]) -> str:
    stream = io.StringIO(newline="")
    csv.writer(stream).writerows(rows)
    return stream.getvalue()


OF_GENAI_PERF = table(
    ("Metric", "avg", "min", "max", "p99", "p95", "p90", "p75", "p50", "p25"),
    ("Time To First Token (ms)", "1,146.31", "249", "3,485.23", *["3,457.97"] * 4, "640.07", "1"),
    ("Inter Token Latency (ms)", *["30.35"] * 9),
    (),
    ("Metric", "Value"),
    ("Output Token Throughput (per sec)", "2,261.25"),
    ("Request Throughput (per sec)", "1.50"),
    ("Request Count (count)", "96.00"),
)


def test_genai_perf_parts_thousands_with_commas() -> None:
    (found,) = read_bytes(OF_GENAI_PERF.encode(), file="x.csv").readings

    assert found.tool == "genai-perf"
    assert found.metrics["ttft_mean"] == pytest.approx(1.14631)
    assert found.metrics["ttft_p50"] == pytest.approx(0.64007)
    assert found.metrics["output_throughput"] == pytest.approx(2261.25)
    assert found.facts.requests_completed == 96


def test_a_latency_adjusted_for_errors_is_not_the_latency() -> None:
    content = table(
        ("Metric", "avg", "p50"),
        ("Request Latency (ms)", "100", "90"),
        ("Request Latency (error-adjusted) (ms)", "", "500"),
    )
    (found,) = read_bytes(content.encode(), file="x.csv").readings

    assert found.metrics["e2e_p50"] == pytest.approx(0.090)


def test_a_row_of_another_length_costs_no_other() -> None:
    content = table(("Metric", "Value"), ("Request Count", "96"), ("Request Count", "96", "97"))
    found = read_bytes(content.encode(), file="x.csv")

    assert found.readings[0].facts.requests_completed == 96
    assert [(each.line, each.code) for each in found.unreadable] == [(3, "wrong_row")]


def test_somebody_elses_csv_is_not_taken_for_it() -> None:
    assert not aiperf_csv.recognises_aiperf(["Metric,Value\n", "speed,12\n"])
    assert not aiperf_csv.recognises_genai_perf(["Metric,Value\n", "speed,12\n"])


@pytest.mark.parametrize("name", ["ok", "half"])
def test_the_csv_of_a_run_reads_as_its_json_does_but_for_rounding(name: str) -> None:
    of_json, of_csv = (
        read_file(shared(f"bench/aiperf/0.13.0-mock/{name}_profile_export_aiperf.{kind}")).readings
        for kind in ("json", "csv")
    )

    assert of_csv[0].metrics == pytest.approx(dict(of_json[0].metrics), rel=0.02)
    assert of_csv[0].definition == of_json[0].definition
    assert of_csv[0].facts.output_tokens == of_json[0].facts.output_tokens


@given(changed([AIPERF, GENAI_PERF, AIPERF | {"input_config": SECTIONS}]) | values())
def test_no_object_breaks_it(document: Any) -> None:
    if isinstance(document, dict):
        known = aiperf.is_of_aiperf(document), aiperf.is_of_genai_perf(document)
        assert known != (True, True)
        if any(known):
            assert len(aiperf.parse(document)) == 1


@given(st.text(max_size=80), st.integers(0, len(OF_GENAI_PERF)))
def test_no_text_breaks_its_csv(text: str, cut: int) -> None:
    for content in (text, OF_GENAI_PERF[:cut] + text):
        lines = content.splitlines(keepends=True)
        aiperf_csv.recognises_aiperf(lines)
        assert list(aiperf_csv.parse(lines))
