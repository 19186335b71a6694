"""Results of sglang.bench_serving of any release, in our words and units, and what ails them."""

import pytest

from service.domain.reading import Reading
from service.domain.validity import Severity, Validity
from service.formats.tools.registry import read_bytes, read_file
from tests.results import SERVING, lines, serving, without
from tests.shared_data import shared

MOCK = "bench/sglang_bench_serving_mock"
ODD = "bench/odd_synthetic"


def read(result: dict[str, object]) -> Reading:
    (reading,) = read_bytes(lines([result]), file="x.jsonl").readings
    return reading


def failures(reading: Reading) -> list[str]:
    return [each.code for each in reading.findings if each.severity is Severity.FAILURE]


def warnings(reading: Reading) -> list[str]:
    return [each.code for each in reading.findings if each.severity is Severity.WARNING]


def test_values_are_in_base_units_under_our_names() -> None:
    metrics = read(serving()).metrics

    assert metrics["ttft_p50"] == pytest.approx(0.070)
    assert metrics["ttft_p90"] == pytest.approx(0.080)
    assert metrics["tpot_mean"] == pytest.approx(0.0512)
    assert metrics["e2e_p90"] == pytest.approx(3.4)
    assert metrics["output_throughput"] == pytest.approx(153.6)
    assert metrics["duration"] == pytest.approx(40)


def test_a_bare_file_is_incomplete_and_nothing_else_ails_it() -> None:
    reading = read(serving())

    assert reading.validity is Validity.INCOMPLETE
    assert failures(reading) == []
    assert warnings(reading) == []


def test_the_condition_is_what_the_file_tells() -> None:
    assert read(serving()).condition == {
        "backend": "sglang",
        "dataset": "random-ids",
        "request_rate": "inf",
        "concurrency": 8,
        "input_tokens": 128,
        "output_tokens": 64,
        "range_ratio": 1.0,
        "model": "tiny-llama",
        "tp": 1,
        "dtype": "auto",
    }


def test_lengths_of_a_dataset_that_brings_its_own_are_not_told() -> None:
    condition = read(serving(dataset_name="sharegpt", sharegpt_output_len=200)).condition

    assert "input_tokens" not in condition
    assert condition["output_tokens"] == 200


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        pytest.param({"completed": 0}, "requests_failed", id="nothing completed"),
        pytest.param(
            {"errors": [""] * 96 + ["HTTP 500"] * 4}, "requests_failed", id="details tell failures"
        ),
        pytest.param({"total_output_tokens": 999}, "output_tokens_not_as_asked", id="short output"),
        pytest.param({"total_input_tokens": 9999}, "input_tokens_not_as_asked", id="short input"),
        pytest.param({"total_output_tokens_retokenized": 0}, "no_text_came_back", id="no text"),
        pytest.param({"median_ttft_ms": 0.0}, "ttft_zero", id="TTFT zero"),
        pytest.param({"median_itl_ms": 0.0}, "itl_zero", id="ITL zero"),
        pytest.param({"median_tpot_ms": 10.0}, "tpot_against_itl", id="TPOT far below ITL"),
        pytest.param({"p99_e2e_latency_ms": float("nan")}, "value_not_finite", id="NaN"),
        pytest.param({"concurrency": 5.8}, "concurrency_not_reached", id="half of them failed"),
    ],
)
def test_what_the_file_tells_against_itself_makes_it_invalid(
    changes: dict[str, object], code: str
) -> None:
    reading = read(serving(**changes))

    assert code in failures(reading)
    assert reading.validity is Validity.INVALID


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"total_output_tokens_retokenized": 1300}, "retokenised_ratio_odd"),
        ({"concurrency": 6.4}, "concurrency_not_reached"),
        ({"duration": 1.4}, "short_duration"),
    ],
)
def test_what_is_only_odd_warns(changes: dict[str, object], code: str) -> None:
    reading = read(serving(**changes))

    assert warnings(reading) == [code]
    assert failures(reading) == []


def test_one_output_token_has_no_gap_and_no_time_per_token() -> None:
    reading = read(
        serving(
            random_output_len=1, total_output_tokens=96, total_output_tokens_retokenized=96,
            median_itl_ms=0.0, median_tpot_ms=0.0,
        )
    )  # fmt: skip

    assert failures(reading) == []
    assert not [name for name in reading.metrics if name.startswith(("tpot", "itl"))]


def test_zero_and_minus_one_are_unknown_and_no_values() -> None:
    metrics = read(serving(accept_length=-1.0, concurrency=0.0)).metrics

    assert "accept_length" not in metrics
    assert "concurrency" not in metrics


def test_several_tokens_a_gap_are_allowed_where_drafts_are_accepted() -> None:
    assert failures(read(serving(accept_length=3.1, median_itl_ms=150.0, p99_itl_ms=180.0))) == []


def test_a_cache_report_and_the_server_add_what_they_tell() -> None:
    told = serving(
        cache_report={"cache_hit_rate_pct": 25.0},
        server_info={**SERVING["server_info"], "max_total_num_tokens": 4096},
    )

    assert read(told).metrics["cache_hit"] == 0.25
    assert read(told).metrics["kv_capacity"] == 4096


@pytest.mark.parametrize("key", sorted(SERVING.keys() - {"backend", "dataset_name"}))
def test_any_other_key_may_be_absent_null_or_text(key: str) -> None:
    assert read(without(key)).tool == "sglang.bench_serving"
    assert read(serving(**{key: None})).tool == "sglang.bench_serving"
    assert read(serving(**{key: str(SERVING[key])})).tool == "sglang.bench_serving"


def test_a_number_written_as_text_is_a_number() -> None:
    assert read(serving(output_throughput="153.6")).metrics["output_throughput"] == 153.6


def test_another_tool_with_some_of_the_keys_is_not_taken_for_it() -> None:
    vllm = {"date": "x", "backend": "vllm", "model_id": "m", "median_ttft_ms": 1.0}

    (problem,) = read_bytes(lines([vllm]), file="x.json").unreadable

    assert problem.code == "unknown_tool"


@pytest.mark.parametrize(
    ("release", "version", "count"),
    [
        ("0.3.6.post3", ">=0.3.6,<0.4.1", 6),
        ("0.4.1.post7", ">=0.4.1,<0.4.3", 11),
        ("0.5.6.post2", ">=0.5.6,<0.5.8", 15),
        ("0.5.14", ">=0.5.14", 15),
        ("0.5.23", ">=0.5.14", 15),
    ],
)
def test_results_of_real_releases_are_read(release: str, version: str, count: int) -> None:
    found = read_file(shared(f"{MOCK}/{release}/{release}__sglang__ok.jsonl"))

    (reading,) = found.readings
    assert found.unreadable == ()
    assert reading.tool_version == version
    assert len(reading.metrics) == count
    assert reading.validity is Validity.INCOMPLETE


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        ("sglang-cpu/toolong.jsonl", ["no_text_came_back", "ttft_zero", "itl_zero"]),
        (
            f"{MOCK}/0.5.23/0.5.23__sglang-oai__stop_early.jsonl",
            ["requested_counted_as_generated", "tpot_against_itl"],
        ),
        (f"{ODD}/ttft_zero_like_issue_12389.jsonl", ["no_text_came_back", "ttft_zero", "itl_zero"]),
        (
            f"{ODD}/nan_all_failed_old_numpy.jsonl",
            ["all_failed", "requests_failed", "value_not_finite"],
        ),
    ],
)
def test_real_results_that_look_fine_and_are_not_are_invalid(name: str, codes: list[str]) -> None:
    (reading,) = read_file(shared(name)).readings

    assert failures(reading) == codes
    assert reading.validity is Validity.INVALID


@pytest.mark.parametrize("release", ["0.4.3.post4", "0.5.23"])
def test_half_failed_requests_are_found_by_the_low_concurrency_that_is_their_only_trace(
    release: str,
) -> None:
    (reading,) = read_file(shared(f"{MOCK}/{release}/{release}__sglang__fail_half.jsonl")).readings

    assert reading.validity is Validity.INVALID
    assert failures(reading) == ["concurrency_not_reached"]
    assert "requests_failed" in {
        each.code for each in reading.findings if each.severity is Severity.UNKNOWN
    }


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("blank_lines_crlf_bom.jsonl", [1, 3]),
        ("concatenated_no_newline.json", [1, 1]),
        ("pretty_two_objects.json", [1, 51]),
        ("strings_and_nulls.jsonl", [1]),
        ("empty.jsonl", []),
    ],
)
def test_odd_layouts_lose_no_result(name: str, found: list[int]) -> None:
    readings = read_file(shared(f"{ODD}/{name}"))

    assert [reading.line for reading in readings.readings] == found
    assert [each.code for each in readings.unreadable] == ([] if found else ["empty"])


def test_eight_real_repeats_are_eight_readings_of_one_condition() -> None:
    readings = read_file(shared("sglang-cpu/noise_quiet.jsonl")).readings

    assert len(readings) == 8
    assert len({str(reading.condition) for reading in readings}) == 1
    assert readings[0].metrics["output_throughput"] == pytest.approx(948.48, abs=0.01)
    assert readings[0].resolution.facts["attention_backend"] == "torch_native"


def test_requests_in_flight_that_the_kv_cache_cannot_hold_make_it_invalid() -> None:
    asked = {"max_concurrency": 100, "concurrency": 99.0}

    assert failures(read(serving(**asked))) == ["kv_capacity_too_small"]
    several_ranks = SERVING["server_info"] | {"dp_size": 2}
    assert failures(read(serving(**asked, server_info=several_ranks))) == []


@pytest.mark.parametrize(
    ("added", "definition"),
    [
        pytest.param({}, 1, id="gaps between chunks"),
        pytest.param({"concurrency": 7.9}, 2, id="gaps between tokens"),
        pytest.param({"concurrency": 7.9, "server_info": None}, 3, id="the duration counts more"),
        pytest.param({"concurrency": 7.9, "p90_ttft_ms": 80.0}, 4, id="reasoning counts"),
    ],
)
def test_a_release_that_changed_a_meaning_has_a_definition_of_its_own(
    added: dict[str, object], definition: int
) -> None:
    oldest = without("concurrency", "server_info", "p90_ttft_ms")

    assert read(oldest | added).definition == definition
