"""Results of InferenceX: seconds without a suffix, and rows per card, put together again."""

from typing import Any

import pytest
from hypothesis import given

from service.domain.validity import Validity
from service.formats.tools import inferencex
from service.formats.tools.registry import TOOLS, read_file
from tests.any_json import changes
from tests.shared_data import shared
from tests.vllm_results import NEWEST, failures, problems, read

CLIENT: dict[str, Any] = {
    "date": "20260213-135636",
    "model_id": "org/tiny-llama",
    "tokenizer_id": "org/tiny-llama",
    "num_prompts": 160,
    "request_rate": "inf",
    "burstiness": 1.0,
    "max_concurrency": 16,
    "duration": 200.0,
    "completed": 160,
    "total_input_tokens": 16000,
    "total_output_tokens": 3200,
    "request_throughput": 0.8,
    "input_throughput": 80.0,
    "output_throughput": 16.0,
    "median_ttft": 3.1,
    "mean_e2el": 19.0,
    "median_e2el": 18.0,
    "median_tpot": 0.14,
}
ROW: dict[str, Any] = {
    "hw": "h200",
    "tp": 8,
    "ep": 1,
    "dp_attention": False,
    "conc": 64,
    "isl": 1024,
    "osl": 1024,
    "model": "org/tiny-llama",
    "framework": "sglang",
    "precision": "fp8",
    "tput_per_gpu": 1000.0,
    "output_tput_per_gpu": 500.0,
    "median_ttft": 0.5,
    "mean_ttft": 0.6,
    "median_tpot": 0.02,
    "median_intvty": 50.0,
    "median_itl": 0.019,
}


def test_the_clients_seconds_are_seconds() -> None:
    reading = read(CLIENT)

    assert (reading.tool, reading.definition) == ("inferencex", inferencex.CLIENT)
    assert reading.metrics["ttft_p50"] == 3.1
    assert reading.metrics["tpot_p50"] == 0.14
    assert reading.metrics["output_throughput"] == 16.0
    assert reading.facts.concurrency == pytest.approx(15.2)
    assert reading.condition["concurrency"] == 16
    assert failures(reading) == []
    assert reading.validity is Validity.INCOMPLETE


def test_a_rows_throughput_is_that_of_all_its_cards() -> None:
    reading = read(ROW)

    assert (reading.tool, reading.definition) == ("inferencex", inferencex.ROW)
    assert reading.metrics["total_throughput"] == 8000.0
    assert reading.metrics["output_throughput"] == 4000.0
    assert reading.metrics["tpot_p50"] == 0.02
    assert reading.condition == {
        "input_tokens": 1024,
        "output_tokens": 1024,
        "concurrency": 64,
        "tp": 8,
        "ep": 1,
        "cards": "h200",
        "framework": "sglang",
        "precision": "fp8",
        "dp_attention": False,
        "model": "tiny-llama",
    }


@pytest.mark.parametrize(
    "change",
    [{"is_multinode": True}, {"disagg": True}, {"tp": None}, {"tp": 0}, {"tp": -8}],
    ids=["several hosts", "split phases", "no degree", "degree zero", "degree below zero"],
)
def test_a_division_that_is_not_known_is_not_undone(change: dict[str, Any]) -> None:
    metrics = read(ROW | change).metrics

    assert not [name for name in metrics if name.endswith("throughput")]
    assert metrics["ttft_p50"] == 0.5


@pytest.mark.parametrize(
    ("result", "code"),
    [
        pytest.param(CLIENT | {"completed": 80}, "requests_failed", id="half failed"),
        pytest.param(
            CLIENT
            | {"completed": 0}
            | {key: 0.0 for key in CLIENT if key.startswith(("m", "output_", "input_", "req"))
               and isinstance(CLIENT[key], float)},
            "all_failed", id="all failed",
        ),
        pytest.param(CLIENT | {"median_ttft": float("nan")}, "value_not_finite", id="NaN"),
        pytest.param(ROW | {"tput_per_gpu": float("inf")}, "value_not_finite", id="infinite"),
        pytest.param(ROW | {"median_ttft": 0.0}, "ttft_zero", id="TTFT zero"),
        pytest.param(
            {key: 0.0 if isinstance(value, float) else value for key, value in ROW.items()},
            "all_failed", id="a row of zeros",
        ),
    ],
)  # fmt: skip
def test_what_the_file_tells_against_itself_makes_it_invalid(
    result: dict[str, Any], code: str
) -> None:
    assert code in failures(read(result))


def test_nulls_and_text_are_taken_as_they_come() -> None:
    reading = read(ROW | {"median_ttft": None, "tput_per_gpu": "1000", "conc": "64", "hw": None})

    assert "ttft_p50" not in reading.metrics
    assert reading.metrics["total_throughput"] == 8000.0
    assert reading.condition["concurrency"] == 64
    assert reading.condition["cards"] is None


def test_milliseconds_are_another_tools() -> None:
    assert not inferencex.recognises(NEWEST)
    assert problems({f"{key}_ms": value for key, value in ROW.items()}) == ["unknown_tool"]


@pytest.mark.parametrize("result", [CLIENT, ROW], ids=["client", "row"])
def test_no_other_tool_takes_a_result_for_its_own(result: dict[str, Any]) -> None:
    assert [tool.name for tool in TOOLS if tool.recognises(result)] == ["inferencex"]


def test_public_files_are_read() -> None:
    name = "bench/inferencex/tpds/glm5_fp8_vllm_tp8_isl10240_osl128_conc16.json"
    (reading,) = read_file(shared(name)).readings

    assert reading.tool == "inferencex"
    assert reading.metrics["ttft_p50"] == pytest.approx(3.1382447)
    assert reading.metrics["input_throughput"] == pytest.approx(7633.27817)
    assert failures(reading) == []


@given(changes(CLIENT), changes(ROW))
def test_no_content_of_a_known_key_makes_it_fail(
    client: dict[str, object], row: dict[str, object]
) -> None:
    for result in (CLIENT | client, ROW | row, CLIENT | ROW | client | row):
        assert len(inferencex.parse(result)) == 1
