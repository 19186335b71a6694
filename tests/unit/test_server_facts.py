"""What a server settled for all repeats of a launch, from wherever it tells."""

from dataclasses import replace
from pathlib import Path

import pytest

from runners.benchmarks.server_facts import (
    ServerFacts,
    capacity_before,
    server_facts,
)
from service.domain.condition import Load, Parallelism
from service.domain.kv_cache import tokens_in_flight
from service.domain.resolution import Fact
from service.formats.tools.server_start import GENERATED, metric, resolved
from tests.runner_orders import condition

LOG = """\
[2026-11-30 02:03:50] Attention backend not explicitly specified. Use fa3 backend by default.
[2026-11-30 02:03:50] Load weight end. elapsed=0.03 s, avail mem=20.65 GB, mem usage=15.25 GB.
[2026-11-30 02:03:50] KV Cache is allocated. #tokens: 8192, K size: 1.50 GB, V size: 1.50 GB
[2026-11-30 02:03:51] Capture cuda graph end. Time elapsed: 3.1 s. mem usage=0.5 GB. avail mem=2 GB
[2026-11-30 02:03:51] max_total_num_tokens=8192, chunked_prefill_size=-1, max_prefill_tokens=16384,\
 max_running_requests=16, context_len=4096, available_gpu_mem=2.10 GB
"""
METRICS = """# HELP sglang:max_total_num_tokens most tokens
sglang:max_total_num_tokens{tp_rank="0"} 8192.0
sglang:weight_memory_usage_gb 15.25
sglang:generation_tokens_total{a="1"} 10.0
sglang:generation_tokens_total{a="2"} 5.0
sglang:bad NaN
"""


@pytest.mark.parametrize(
    ("settled", "asked"),
    [
        pytest.param({"disable_cuda_graph": True}, False, id="switched off"),
        pytest.param({"cuda_graph_backend_decode": "disabled"}, False, id="off by its backend"),
        pytest.param({"device": "cpu", "cuda_graph_backend_decode": "full"}, False, id="a CPU"),
        pytest.param(
            {"device": "cpu", "disable_cuda_graph": False, "enable_torch_compile": True},
            True,
            id="a compiled CPU",
        ),
        pytest.param({"disable_cuda_graph": False}, True, id="on"),
        pytest.param({"cuda_graph_backend_decode": "full"}, True, id="on by its backend"),
        pytest.param({}, None, id="not told"),
    ],
)
def test_whether_graphs_were_asked_for_is_read_off_the_resolution(
    settled: dict[str, Fact], asked: bool | None
) -> None:
    assert server_facts(settled).graphs_asked is asked


def test_a_capacity_that_is_not_told_is_unknown() -> None:
    assert server_facts({"max_total_num_tokens": None}) == ServerFacts()


@pytest.mark.parametrize(
    ("load", "dp", "needed"),
    [
        pytest.param(Load.CLOSED, 1, 640, id="a closed loop: concurrency times both lengths"),
        pytest.param(Load.CLOSED, 3, 320, id="the fullest of several ranks"),
        pytest.param(Load.OPEN, 1, None, id="an open loop has no bound"),
    ],
)
def test_how_much_room_a_load_needs(load: Load, dp: int, needed: int | None) -> None:
    asked = condition(load=load)

    assert tokens_in_flight(replace(asked, parallelism=Parallelism(dp=dp))) == needed


def test_the_first_launch_of_a_session_is_what_later_ones_are_held_to(tmp_path: Path) -> None:
    assert capacity_before(tmp_path, "a", None) is None
    assert capacity_before(tmp_path, "a", 8192) is None
    assert capacity_before(tmp_path, "a", 4096) == 8192
    assert capacity_before(tmp_path, "a", 8192) == 8192
    assert capacity_before(tmp_path, "b", 1) is None


def test_what_the_server_does_not_tell_is_taken_from_its_log() -> None:
    assert resolved({"page_size": 64}, log=LOG) == {
        "page_size": 64,
        "max_total_num_tokens": 8192,
        "chunked_prefill_size": -1,
        "max_prefill_tokens": 16384,
        "max_running_requests": 16,
        "context_length": 4096,
        "memory_weight_gb": 15.25,
        "memory_kv_cache_gb": 3,
        "memory_graph_gb": 0.5,
        "attention_backend": "fa3",
    }


def test_what_the_server_tells_itself_counts_before_its_log_and_its_metrics() -> None:
    told = resolved({"max_total_num_tokens": 1, "context_length": None}, log=LOG, metrics=METRICS)

    assert told["max_total_num_tokens"] == 1
    assert told["context_length"] == 4096


def test_metrics_tell_what_nothing_else_does() -> None:
    assert resolved({}, metrics=METRICS) == {
        "max_total_num_tokens": 8192,
        "memory_weight_gb": 15.25,
    }


@pytest.mark.parametrize(
    ("graph", "gb"),
    [
        pytest.param(0.5, 0.5, id="a number"),
        pytest.param({"decode": 0.5, "prefill": 0.25, "draft": None}, 0.75, id="since 0.5.23"),
    ],
)
def test_the_memory_of_graphs_is_one_number(graph: object, gb: float) -> None:
    info = {"internal_states": [{"memory_usage": {"graph": graph}}]}

    assert resolved(info)["memory_graph_gb"] == gb


def test_a_counter_is_added_over_its_series() -> None:
    assert metric(METRICS, GENERATED) == 15.0
    assert metric(METRICS, ("sglang:nothing",)) is None
    assert metric("", GENERATED) is None
