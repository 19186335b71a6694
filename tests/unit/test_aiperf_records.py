"""Results of aiperf out of its records, one line a request."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.reading import Reading, Readings
from service.domain.validity import Severity
from service.formats.tools import aiperf_records
from service.formats.tools.registry import read_bytes, read_file
from tests.odd_documents import changed, values
from tests.shared_data import shared


def failures(found: Reading) -> list[str]:
    return [each.code for each in found.findings if each.severity is Severity.FAILURE]


def test_the_records_of_a_run_have_the_latencies_of_its_summary() -> None:
    folder = "bench/aiperf/0.13.0-mock"
    (summary,) = read_file(shared(f"{folder}/half_profile_export_aiperf.json")).readings
    (records,) = read_file(shared(f"{folder}/half_profile_export.jsonl")).readings
    latencies = {
        name: value
        for name, value in records.metrics.items()
        if name.startswith(("ttft", "tpot", "e2e", "duration"))
    }

    assert latencies == pytest.approx({name: summary.metrics[name] for name in latencies})
    assert len(latencies) == 7
    assert failures(records)[0] == "requests_failed"
    assert records.facts.requests_asked == 12
    assert records.definition == aiperf_records.RECORDS


def record(**changes: Any) -> dict[str, Any]:
    metadata = {"benchmark_phase": "profiling", "request_start_ns": 10**9, "request_end_ns": 2**31}
    return {
        "metadata": metadata | changes.pop("metadata", {}),
        "metrics": {
            "request_latency": {"value": 2000.0, "unit": "ms"},
            "time_to_first_token": {"value": 70.0, "unit": "ms"},
            "inter_token_latency": {"value": 50.0, "unit": "ms"},
            "input_sequence_length": {"value": 128, "unit": "tokens"},
            "output_sequence_length": {"value": 64, "unit": "tokens"},
        },
        "error": None,
    } | changes


def read_records(*records: object) -> Readings:
    content = "".join(json.dumps(each) + "\n" for each in records)
    return read_bytes(content.encode(), file="x.jsonl")


def test_records_are_one_result_over_the_requests_that_were_measured() -> None:
    warm = record(metadata={"benchmark_phase": "warmup"})
    found = read_records(warm, record(), record())

    assert found.unreadable == ()
    assert found.readings[0].facts.requests_completed == 2
    assert found.readings[0].facts.requests_asked is None
    assert found.readings[0].metrics["output_throughput"] == pytest.approx(64)


def test_records_with_errors_are_invalid() -> None:
    found = read_records(record(), record(error={"code": 500}))

    assert found.readings[0].facts.requests_asked == 2
    assert "requests_failed" in failures(found.readings[0])


def test_whether_cancelled_requests_were_to_complete_is_not_known() -> None:
    found = read_records(record(), record(metadata={"was_cancelled": True}))

    assert found.readings[0].facts.requests_completed == 1
    assert found.readings[0].facts.requests_asked is None


def test_records_of_a_warm_up_alone_hold_no_result() -> None:
    found = read_records(record(metadata={"benchmark_phase": "warmup"}))

    assert [each.code for each in found.unreadable] == ["no_results"]


def test_records_that_all_failed_are_one_invalid_result() -> None:
    found = read_records(*[record(error={"code": 500}, metrics={})] * 3)

    assert found.readings[0].metrics == {}
    assert "requests_failed" in failures(found.readings[0])


def test_a_damaged_record_costs_no_other() -> None:
    whole = json.dumps(record()) + "\n"
    found = read_bytes((whole + whole[:90] + "\n" + whole + "[]\n").encode(), file="x.jsonl")

    assert found.readings[0].facts.requests_completed == 2
    assert [(each.line, each.code) for each in found.unreadable] == [
        (2, "truncated"),
        (4, "not_a_result"),
    ]


def test_a_record_in_a_unit_that_is_not_known_is_told() -> None:
    odd = record()
    odd["metrics"]["time_to_first_token"] = {"value": 70.0, "unit": "ticks"}
    found = read_records(record(), odd)

    assert found.readings[0].facts.requests_completed == 1
    assert [(each.line, each.code) for each in found.unreadable] == [(2, "unknown_unit")]


@given(st.lists(changed([record(), record(error={"code": 500})]) | values(), max_size=4))
def test_no_records_break_it(records: list[Any]) -> None:
    lines = [json.dumps(each) + "\n" for each in records]
    aiperf_records.recognises(lines)

    assert len(list(aiperf_records.parse(lines))) <= len(records) + 1
