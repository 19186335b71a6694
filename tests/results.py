"""Results of sglang.bench_serving as its newest release writes them, with parts changed."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

SERVING: dict[str, Any] = {
    "tag": None,
    "backend": "sglang",
    "dataset_name": "random-ids",
    "request_rate": float("inf"),
    "max_concurrency": 8,
    "sharegpt_output_len": None,
    "random_input_len": 128,
    "random_output_len": 64,
    "random_range_ratio": 1.0,
    "server_info": {
        "model_path": "/models/tiny-llama",
        "served_model_name": "/models/tiny-llama",
        "tp_size": 1,
        "dtype": "auto",
        "attention_backend": "torch_native",
        "page_size": 1,
        "api_key": None,
        "version": "0.5.23",
        "internal_states": [{"memory_usage": {"weight": 0.5, "token_capacity": 16384}}],
    },
    "duration": 40.0,
    "completed": 96,
    "total_input_tokens": 96 * 128,
    "total_output_tokens": 96 * 64,
    "total_output_tokens_retokenized": 96 * 64,
    "request_throughput": 2.4,
    "input_throughput": 307.2,
    "output_throughput": 153.6,
    "total_throughput": 460.8,
    "mean_e2e_latency_ms": 3300.0,
    "median_e2e_latency_ms": 3310.0,
    "p90_e2e_latency_ms": 3400.0,
    "p99_e2e_latency_ms": 3500.0,
    "mean_ttft_ms": 72.0,
    "median_ttft_ms": 70.0,
    "p90_ttft_ms": 80.0,
    "p99_ttft_ms": 90.0,
    "mean_tpot_ms": 51.2,
    "median_tpot_ms": 51.0,
    "p99_tpot_ms": 55.0,
    "mean_itl_ms": 50.2,
    "median_itl_ms": 50.0,
    "p99_itl_ms": 60.0,
    "concurrency": 7.9,
    "accept_length": None,
    "max_output_tokens_per_s": 200.0,
}


def serving(**changes: Any) -> dict[str, Any]:
    """Return one result; a change to None that is meant as absence is made by `without`."""
    return SERVING | changes


def without(*keys: str) -> dict[str, Any]:
    """Return one result that lacks some keys, as older releases write it."""
    return {name: value for name, value in SERVING.items() if name not in keys}


def lines(results: Iterable[dict[str, Any]]) -> bytes:
    """Return results as the tool writes them: one JSON object a line, Infinity included."""
    return "".join(json.dumps(result) + "\n" for result in results).encode()


def write(path: Path, results: Iterable[dict[str, Any]]) -> Path:
    """Write a result file and return its path."""
    path.write_bytes(lines(results))
    return path


def scaled(*factors: float, **changes: Any) -> list[dict[str, Any]]:
    """Return one result a factor: latencies grow by it, throughput shrinks by it."""
    latencies = {name: value for name, value in SERVING.items() if name.endswith("_ms")}
    return [
        serving(
            output_throughput=SERVING["output_throughput"] / factor,
            **{name: value * factor for name, value in latencies.items()},
            **changes,
        )
        for factor in factors
    ]
