"""What a server says of itself: one name a fact whatever the release, and no secret kept."""

import json

import pytest

from service.formats.tools.server_info import (
    condition_told,
    resolution_of,
)
from tests.shared_data import shared


@pytest.mark.parametrize(
    ("server_info", "fact", "value"),
    [
        pytest.param({"page_size": 64}, "page_size", 64, id="a plain fact"),
        pytest.param({"cuda_graph_max_bs": 8}, "cuda_graph_max_bs", 8, id="its old name"),
        pytest.param(
            {"cuda_graph_config": {"decode": {"max_bs": 32}}}, "cuda_graph_max_bs", 32,
            id="its new name",
        ),
        pytest.param({"cuda_graph_bs": [1, 2, 4]}, "cuda_graph_bs", "1,2,4", id="a list"),
        pytest.param(
            {"internal_states": [{"memory_usage": {"token_capacity": 4096}}]},
            "max_total_num_tokens", 4096, id="told by the first rank alone",
        ),
        pytest.param({"quantization": None}, "quantization", None, id="told to be null"),
        pytest.param(
            {"attention_backend": None, "internal_states": [{"attention_backend": "fa3"}]},
            "attention_backend", "fa3", id="null until a rank settles it",
        ),
    ],
)  # fmt: skip
def test_a_fact_is_found_under_whatever_name_it_has(
    server_info: dict[str, object], fact: str, value: object
) -> None:
    assert resolution_of(server_info).facts == {fact: value}


def test_what_a_server_does_not_tell_is_absent() -> None:
    assert resolution_of({}).facts == {}


def test_what_differs_from_launch_to_launch_is_no_fact() -> None:
    assert resolution_of({"random_seed": 7, "port": 31000, "launch_command": "x"}).facts == {}


def test_a_server_tells_model_parallelism_and_precision() -> None:
    told = condition_told({"model_path": "/data/models/Qwen3-8B/", "tp_size": 4, "dtype": "auto"})

    assert told == {"model": "Qwen3-8B", "tp": 4, "dtype": "auto"}


def test_a_real_server_settles_what_we_look_for() -> None:
    line = shared("sglang-cpu/noise_quiet.jsonl").read_text().splitlines()[0]
    server_info = json.loads(line)["server_info"]

    facts = resolution_of(server_info).facts

    assert facts["version"] == "0.5.23"
    assert facts["attention_backend"] == "torch_native"
    assert facts["chunked_prefill_size"] == 4096
    assert facts["max_total_num_tokens"] == 16384
    assert facts["disable_radix_cache"] is False
    assert facts["cuda_graph_backend_prefill"] == "disabled"
