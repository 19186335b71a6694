"""Results of vllm bench serve in the shape of each release, made up, and how they are read."""

import json
from typing import Any

from service.domain.reading import Reading
from service.domain.validity import Severity
from service.formats.tools.registry import read_bytes

# As benchmarks/benchmark_serving.py of 0.6.2 writes it, without the details of each request.
OLDEST: dict[str, Any] = {
    "date": "20240910-120000",
    "backend": "vllm",
    "model_id": "/models/tiny-llama",
    "tokenizer_id": "/models/tiny-llama",
    "best_of": 1,
    "use_beam_search": False,
    "num_prompts": 100,
    "request_rate": "inf",
    "duration": 40.0,
    "completed": 100,
    "total_input_tokens": 12800,
    "total_output_tokens": 6400,
    "request_throughput": 2.5,
    "output_throughput": 160.0,
    "total_token_throughput": 480.0,
    "mean_ttft_ms": 72.0,
    "median_ttft_ms": 70.0,
    "std_ttft_ms": 5.0,
    "p99_ttft_ms": 90.0,
    "mean_tpot_ms": 51.2,
    "median_tpot_ms": 51.0,
    "std_tpot_ms": 1.0,
    "p99_tpot_ms": 55.0,
    "mean_itl_ms": 50.2,
    "median_itl_ms": 50.0,
    "std_itl_ms": 1.5,
    "p99_itl_ms": 60.0,
}
_SCRIPT = {key: value for key, value in OLDEST.items() if key != "use_beam_search"}
_LOAD = {"burstiness": 1.0, "max_concurrency": 8}
_WITHOUT_BEST_OF = {key: value for key, value in _SCRIPT.items() if key != "best_of"} | _LOAD
_COMMAND = {key: value for key, value in _WITHOUT_BEST_OF.items() if key != "backend"} | {
    "endpoint_type": "vllm",
    "label": None,
}
_PEAKS = {"backend": "vllm", "max_output_tokens_per_s": 200.0, "max_concurrent_requests": 9}
_GOODPUT = {"request_goodput": None}

OF_RELEASE: dict[str, dict[str, Any]] = {
    "0.6.2": OLDEST,
    "0.6.3": _SCRIPT,
    "0.6.6": _SCRIPT | _LOAD | {"request_goodput:": None},
    "0.7.3": _SCRIPT | _LOAD | {"request_goodput:": None, "date": "20250301-120000"},
    "0.8.5 script": _WITHOUT_BEST_OF | {"request_goodput:": None, "date": "20250501-120000"},
    "0.8.5": _COMMAND | {"best_of": 1, "request_goodput:": None, "date": "20250501-120000"},
    "0.10.1 script": _WITHOUT_BEST_OF | _GOODPUT,
    "0.10.2": _COMMAND | _GOODPUT,
    "0.11.0": _COMMAND | _GOODPUT | _PEAKS,
    "0.11.1": _COMMAND | _GOODPUT | _PEAKS | {"failed": 0},
    "0.25.1": _COMMAND | _GOODPUT | _PEAKS | {"failed": 0, "rtfx": 0.0},
    "0.33.0": _COMMAND
    | _GOODPUT
    | _PEAKS
    | {"failed": 0, "rtfx": 0.0, "queue_times": [0.0] * 100, "latencies": [3.1] * 100},
}
NEWEST = OF_RELEASE["0.33.0"]
ALL_FAILED = NEWEST | {
    "completed": 0,
    "failed": 100,
    "total_input_tokens": 0,
    "total_output_tokens": 0,
    "request_throughput": 0.0,
    "output_throughput": 0.0,
    "total_token_throughput": 0.0,
    "max_output_tokens_per_s": 0.0,
    "max_concurrent_requests": 0,
    "latencies": [0.0] * 100,
    **{key: 0.0 for key in NEWEST if key.endswith("_ms")},
}


def read(result: dict[str, Any]) -> Reading:
    """Return the one reading of one object."""
    (reading,) = read_bytes(json.dumps(result).encode(), file="x.json").readings
    return reading


def problems(result: dict[str, Any]) -> list[str]:
    """Return the codes of what could not be read of one object."""
    return [each.code for each in read_bytes(json.dumps(result).encode(), file="x.json").unreadable]


def failures(reading: Reading) -> list[str]:
    """Return the codes of the gates that a reading fails."""
    return [each.code for each in reading.findings if each.severity is Severity.FAILURE]
