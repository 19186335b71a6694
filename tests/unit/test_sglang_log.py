"""Logs of SGLang servers: one reading a launch, what it settled, and what went wrong."""

import pytest

from service.domain.reading import Reading
from service.domain.validity import Severity
from service.formats.tools.registry import read_bytes

START = """\
[2026-11-30 02:00:00] server_args=ServerArgs(model_path='/models/tiny-llama', tp_size=2, \
dtype='auto', page_size=None, disable_cuda_graph=False, log_requests_format=<F.TEXT: 'text'>)
[2026-11-30 02:00:01] Load weight end. type=LlamaForCausalLM, avail mem=60.1 GB, mem usage=15.0 GB.
[2026-11-30 02:00:02] KV Cache is allocated. #tokens: 16384, K size: 1.00 GB, V size: 1.50 GB
[2026-11-30 02:00:03] max_total_num_tokens=16384, chunked_prefill_size=2048, \
max_prefill_tokens=16384, max_running_requests=16, context_len=4096, available_gpu_mem=20.51 GB
[2026-11-30 02:00:04] INFO:     127.0.0.1:1 - "GET /health HTTP/1.1" 503 Service Unavailable
[2026-11-30 02:00:05] The server is fired up and ready to roll!
"""
PREFILL = "[2026-11-30 02:00:06] Prefill batch, #new-seq: 1, #new-token: 128, #cached-token: 0\n"
DECODE = (
    "[2026-11-30 02:00:07] Decode batch, #running-req: 8, #token: 900, token usage: 0.05, "
    "cuda graph: {}, gen throughput (token/s): 120.5, #queue-req: 0\n"
)
RETRACTED = "[2026-11-30 02:00:08] KV cache pool is full. Retract requests. #retracted_reqs: 2\n"
ERROR = "Traceback (most recent call last):\n"


def readings(text: str) -> tuple[Reading, ...]:
    found = read_bytes(text.encode(), file="server.log")
    assert found.unreadable == ()
    return found.readings


def test_a_log_tells_what_the_server_settled() -> None:
    (reading,) = readings(f"warming\n{START}{PREFILL}")

    assert reading.tool == "sglang.server_log"
    assert reading.metrics == {"kv_capacity": 16384}
    assert reading.resolution.facts["memory_weight_gb"] == 15
    assert reading.resolution.facts["memory_kv_cache_gb"] == 2.5
    assert reading.resolution.facts["chunked_prefill_size"] == 2048
    assert reading.condition == {"model": "tiny-llama", "tp": 2, "dtype": "auto"}


@pytest.mark.parametrize(
    ("lines", "fact", "count"),
    [
        pytest.param(ERROR, "server_errors", 1, id="a traceback"),
        pytest.param('- "POST /generate HTTP/1.1" 500 Error\n', "server_errors", 1, id="a 500"),
        pytest.param(RETRACTED * 3, "retractions", 3, id="retractions"),
        pytest.param(DECODE.format(False) * 2, "eager_decodes", 2, id="decode without a graph"),
        pytest.param(DECODE.format(True), "eager_decodes", 0, id="decode as a graph"),
        pytest.param("", "server_errors", 0, id="asked for its health too early"),
    ],
)
def test_what_went_wrong_is_counted(lines: str, fact: str, count: int) -> None:
    (reading,) = readings(START + lines)

    assert getattr(reading.facts, fact) == count


def test_an_error_makes_it_invalid() -> None:
    (reading,) = readings(START + ERROR)

    failed = [each.code for each in reading.findings if each.severity is Severity.FAILURE]
    assert failed == ["server_errors"]


def test_a_log_that_was_appended_to_holds_a_reading_a_launch() -> None:
    second = START.replace("16384", "8192")
    found = readings(START + ERROR + second)

    assert [(each.line, each.metrics["kv_capacity"]) for each in found] == [(1, 16384), (8, 8192)]
    assert [each.facts.server_errors for each in found] == [1, 0]


@pytest.mark.parametrize(
    "line",
    [
        "Decode batch. #running-req: 1, #token: 5, token usage: 0.00, gen throughput: 1.0\n",
        "[0] Prefill batch [12], #new-seq: 1, #new-token: 128, #cached-token: 0\n",
        "[2026-11-30 TP0] KV Cache is allocated. K size: 1.00 GB, V size: 1.00 GB.\n",
    ],
    ids=["0.4", "an iteration's number", "tensor parallel"],
)
def test_logs_of_any_release_are_known(line: str) -> None:
    (reading,) = readings(line)

    assert reading.tool == "sglang.server_log"
