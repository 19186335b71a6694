"""Results of evalscope perf in seconds and in milliseconds, and the files beside them."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.reading import Reading, Readings
from service.domain.validity import Severity, Validity
from service.formats.tools import evalscope, evalscope_percentiles
from service.formats.tools.registry import read_bytes, read_file
from service.formats.tools.tool import Found
from tests.odd_documents import changed, values
from tests.shared_data import shared

SECONDS: dict[str, Any] = {
    "Time taken for tests (s)": 40.0,
    "Number of concurrency": 4,
    "Request rate (req/s)": -1,
    "Total requests": 100,
    "Succeed requests": 100,
    "Failed requests": 0,
    "Request throughput (req/s)": 2.5,
    "Average latency (s)": 1.6,
    "Average input tokens per request": 128.0,
    "Output token throughput (tok/s)": 160.0,
    "Total token throughput (tok/s)": 480.0,
    "Average time to first token (s)": 0.1,
    "Average time per output token (s)": 0.0238,
    "Average inter-token latency (s)": 0.0237,
    "Average output tokens per request": 64.0,
}
MILLISECONDS: dict[str, Any] = {
    "Test Duration (s)": 40.0,
    "Concurrency": 4,
    "Request Rate (req/s)": -1.0,
    "Total Requests": 100,
    "Success Requests": 100,
    "Failed Requests": 0,
    "Stream Requests": 100,
    "Non-Stream Requests": 0,
    "Req Throughput (req/s)": 2.5,
    "Avg Latency (s)": 1.6,
    "Avg Input Tokens": 128.0,
    "Output Throughput (tok/s)": 160.0,
    "Total Throughput (tok/s)": 480.0,
    "Avg TTFT (ms)": 100.0,
    "Avg TPOT (ms)": 23.8,
    "Avg ITL (ms)": 23.7,
    "Avg Output Tokens": 64.0,
    "Input Throughput (tok/s)": 0.0,
}
OLDER_MILLISECONDS = {
    name.removeprefix("Avg ") if "(ms)" in name else name: value
    for name, value in MILLISECONDS.items()
    if "Stream" not in name
}
PACKAGES = {
    name: value for name, value in SECONDS.items() if name != "Average inter-token latency (s)"
} | {"Average package latency (s)": 0.04, "Average package per request": 32.0}
ROWS_S = [
    {"Percentiles": share, "TTFT (s)": 0.1, "ITL (s)": 0.02, "TPOT (s)": 0.03, "Latency (s)": 1.5}
    for share in ("10%", "50%", "99%")
]
ROWS_MS = [
    {
        "Percentiles": share,
        "Latency (s)": 1.5,
        "TTFT (ms)": 100.0,
        "ITL (ms)": 20.0,
        "TPOT (ms)": 30,
    }
    for share in ("min", "50%", "99%", "max")
]
ARGUMENTS = {"parallel": 4, "number": 100, "rate": -1, "dataset": "random", "outputs_dir": "out"}


def read(document: object) -> Readings:
    return read_bytes(json.dumps(document, indent=4).encode(), file="x.json")


def reading(document: object) -> Reading:
    (only,) = read(document).readings
    return only


def failures(found: Reading) -> list[str]:
    return [each.code for each in found.findings if each.severity is Severity.FAILURE]


@pytest.mark.parametrize(
    ("document", "version", "definition"),
    [
        pytest.param(SECONDS, "<1.7", evalscope.SECONDS, id="seconds"),
        pytest.param(
            OLDER_MILLISECONDS, ">=1.7,<1.10", evalscope.MILLISECONDS, id="milliseconds, first keys"
        ),
        pytest.param(MILLISECONDS, ">=1.10", evalscope.STREAMED_ONLY, id="milliseconds, today's"),
    ],
)
def test_each_releases_keys_become_the_same_values(
    document: dict[str, Any], version: str, definition: int
) -> None:
    found = reading(document)

    assert found.tool == "evalscope.perf"
    assert found.tool_version == version
    assert found.definition == definition
    assert found.validity is Validity.INCOMPLETE
    assert failures(found) == []
    assert dict(found.metrics) == pytest.approx(
        {
            "duration": 40.0,
            "request_throughput": 2.5,
            "output_throughput": 160.0,
            "total_throughput": 480.0,
            "e2e_mean": 1.6,
            "ttft_mean": 0.1,
            "tpot_mean": 0.0238,
            "itl_mean": 0.0237,
        }
    )


def test_the_condition_is_what_a_summary_tells() -> None:
    assert reading(MILLISECONDS).condition == {
        "requests": 100,
        "load": "closed",
        "request_rate": "inf",
        "concurrency": 4,
    }


def test_with_a_rate_the_load_is_open_and_no_concurrency_has_to_be_reached() -> None:
    found = reading(MILLISECONDS | {"Request Rate (req/s)": 2.5, "Concurrency": 64})

    assert found.condition["load"] == "open"
    assert found.condition["request_rate"] == 2.5
    assert found.facts.concurrency_asked is None


def test_a_package_of_the_stream_is_no_token() -> None:
    found = reading(PACKAGES)

    assert found.definition == evalscope.PACKAGES
    assert "tpot_mean" not in found.metrics
    assert found.metrics["itl_mean"] == pytest.approx(0.04)


def test_an_input_throughput_of_no_embedding_is_left_out() -> None:
    assert "input_throughput" not in reading(MILLISECONDS).metrics


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(SECONDS | {"Succeed requests": 50, "Failed requests": 50}, id="seconds"),
        pytest.param(MILLISECONDS | {"Success Requests": 50}, id="milliseconds"),
    ],
)
def test_half_failed_is_invalid(document: dict[str, Any]) -> None:
    assert "requests_failed" in failures(reading(document))


def test_all_failed_has_no_values_and_is_invalid() -> None:
    averages = {
        name: -1
        for name in MILLISECONDS
        if name.startswith(("Avg", "Req Th", "Output Th", "Total Th"))
    }
    found = reading(MILLISECONDS | averages | {"Success Requests": 0, "Failed Requests": 100})

    assert "requests_failed" in failures(found)
    assert set(found.metrics) == {"duration"}


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(
            MILLISECONDS | {"Stream Requests": 0, "Non-Stream Requests": 100}, id="counted as such"
        ),
        pytest.param(
            SECONDS
            | {
                "Average time to first token (s)": 1.6,
                "Average inter-token latency (s)": 0.0,
                "Average time per output token (s)": 0.0,
            },
            id="the first token is the whole answer",
        ),
    ],
)
def test_answers_in_one_piece_have_no_times_of_tokens(document: dict[str, Any]) -> None:
    found = reading(document)

    assert not found.facts.streamed
    assert not any(name.startswith(("ttft", "tpot", "itl")) for name in found.metrics)
    assert found.metrics["e2e_mean"] == pytest.approx(1.6)


def test_a_mean_first_token_of_zero_is_invalid() -> None:
    found = reading(MILLISECONDS | {"Avg TTFT (ms)": 0.0})

    assert "ttft_zero" in failures(found)


def test_a_value_that_is_not_finite_is_invalid() -> None:
    found = reading(SECONDS | {"Average latency (s)": float("nan")})

    assert failures(found) == ["value_not_finite"]
    assert "e2e_mean" not in found.metrics


def test_numbers_may_be_text_and_nulls_are_absent() -> None:
    found = reading(SECONDS | {"Average latency (s)": "1.6", "Succeed requests": None})

    assert found.metrics["e2e_mean"] == pytest.approx(1.6)
    assert found.facts.requests_completed is None


def test_a_cache_hit_rate_becomes_a_ratio() -> None:
    assert reading(MILLISECONDS | {"KV Cache Hit Rate (%)": 25}).metrics["cache_hit"] == 0.25


@pytest.mark.parametrize(
    ("rows", "definition", "version"),
    [
        pytest.param(ROWS_S, evalscope.SECONDS, "<1.7", id="seconds"),
        pytest.param(ROWS_MS, evalscope.STREAMED_ONLY, ">=1.7", id="milliseconds"),
        pytest.param(ROWS_MS[1:3], evalscope.MILLISECONDS, ">=1.7", id="milliseconds, no ends"),
    ],
)
def test_a_list_of_percentiles_is_one_result(
    rows: list[dict[str, Any]], definition: int, version: str
) -> None:
    (only,) = evalscope_percentiles.parse(json.dumps(rows).splitlines(keepends=True))
    assert isinstance(only, Found)
    found = only.value

    assert (found.definition, found.tool_version) == (definition, version)
    assert dict(found.metrics) == pytest.approx(
        {
            f"{name}_{statistic}": value
            for statistic in ("p50", "p99")
            for name, value in {"ttft": 0.1, "tpot": 0.03, "itl": 0.02, "e2e": 1.5}.items()
        }
    )
    assert found.facts.ttft_p50 == pytest.approx(0.1)


def test_percentiles_alone_tell_no_number_of_requests_so_their_tails_are_withheld() -> None:
    found = reading(ROWS_MS)

    assert set(found.metrics) == {"ttft_p50", "tpot_p50", "itl_p50", "e2e_p50"}
    assert "ttft_p99" in found.withheld


def test_a_column_of_nothing_but_nan_has_no_values() -> None:
    found = reading([row | {"TPOT (ms)": float("nan")} for row in ROWS_MS])

    assert "tpot_p50" not in found.metrics
    assert failures(found) == ["part_of_a_result"]


def test_one_nan_among_values_is_invalid() -> None:
    found = reading([ROWS_MS[0], ROWS_MS[1], ROWS_MS[2] | {"TTFT (ms)": float("nan")}])

    assert failures(found) == ["value_not_finite", "part_of_a_result"]


def test_a_latency_in_two_units_is_told_and_nothing_is_guessed() -> None:
    found = read([row | {"TTFT (s)": 0.1} for row in ROWS_MS])

    assert found.readings == ()
    assert [each.code for each in found.unreadable] == ["unknown_unit"]


def test_a_list_of_percentiles_that_was_cut_is_told() -> None:
    content = json.dumps(ROWS_MS, indent=4).encode()[:-60]
    found = read_bytes(content, file="x.json")

    assert [each.code for each in found.unreadable] == ["truncated"]


@pytest.mark.parametrize(
    ("document", "code"),
    [
        pytest.param(ARGUMENTS, "arguments_only", id="the arguments of a run"),
        pytest.param({"summary_columns": [], "summary_rows": []}, "not_a_result", id="a page"),
        pytest.param(
            {"runs": [{"percentile_rows": []}], "total": 1}, "not_a_result", id="a page of runs"
        ),
    ],
)
def test_what_is_no_result_says_so_by_a_code_of_its_own(
    document: dict[str, Any], code: str
) -> None:
    found = read(document)

    assert found.readings == ()
    assert [each.code for each in found.unreadable] == [code]


def test_throughput_by_window_is_that_of_the_whole_run() -> None:
    rows = [
        {"metric": "Total Prompt tok/s", "overall": 300.0, "steady_state": 400.0},
        {"metric": "Completion tok/s", "overall": 150.0, "steady_state": 200.0},
        {"metric": "Cached Prompt tok/s", "overall": 0.0},
    ]
    found = reading({"n_samples": 100, "wall_time_s": 40.0, "rows": rows})

    assert dict(found.metrics) == {
        "input_throughput": 300.0,
        "output_throughput": 150.0,
        "duration": 40.0,
    }


@pytest.mark.parametrize(
    ("name", "validity", "output"),
    [
        pytest.param("1.6.1-mock/ok_benchmark_summary.json", "incomplete", 626.647, id="1.6 ok"),
        pytest.param(
            "1.6.1-mock/fail_half_benchmark_summary.json", "invalid", 537.6394, id="1.6 half failed"
        ),
        pytest.param("1.14.1-mock/ok_benchmark_summary.json", "incomplete", 615.0693, id="1.14 ok"),
        pytest.param(
            "1.14.1-mock/ok_workload_throughput.json", "incomplete", 615.0693, id="1.14 by window"
        ),
    ],
)
def test_real_files_are_read(name: str, validity: str, output: float) -> None:
    found = read_file(shared(f"bench/evalscope/{name}"))

    assert found.unreadable == ()
    assert [each.validity.value for each in found.readings] == [validity]
    assert found.readings[0].metrics["output_throughput"] == pytest.approx(output, abs=1e-3)


def test_seconds_and_milliseconds_of_one_workload_are_of_one_size() -> None:
    old, new = (
        read_file(shared(f"bench/evalscope/{name}_benchmark_percentile.json")).readings[0].metrics
        for name in ("1.6.1-mock/ok", "1.14.1-mock/ok")
    )

    assert old.keys() == new.keys()
    assert all(0.3 < new[name] / old[name] < 3 for name in old)


@given(changed([SECONDS, MILLISECONDS, OLDER_MILLISECONDS, PACKAGES, ARGUMENTS]) | values())
def test_no_object_breaks_it(document: Any) -> None:
    if isinstance(document, dict) and evalscope.recognises(document):
        assert len(evalscope.parse(document)) == 1


@given(st.lists(changed([*ROWS_S, *ROWS_MS]) | values(), max_size=4))
def test_no_list_of_percentiles_breaks_it(rows: list[Any]) -> None:
    lines = json.dumps(rows).splitlines(keepends=True)
    evalscope_percentiles.recognises(lines)

    assert len(list(evalscope_percentiles.parse(lines))) == 1
