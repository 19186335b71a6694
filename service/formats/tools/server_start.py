"""What a server settled, from wherever it tells: its own information, its log, its metrics.

Names vary by release: the first that exists counts, and what none tells is unknown.
"""

import math
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from service.domain.resolution import Fact
from service.formats.tools.server_info import resolution_of

# Fact to the words before its value in the lines that a server writes while it starts.
_LOG: Mapping[str, tuple[re.Pattern[str], ...]] = MappingProxyType(
    {
        fact: tuple(re.compile(pattern) for pattern in patterns)
        for fact, patterns in {
            "max_total_num_tokens": (
                r"\bmax_total_num_tokens=(\d+)",
                r"\bKV Cache is allocated\..*?#tokens: (\d+)",
            ),
            "chunked_prefill_size": (r"\bmax_total_num_tokens=.*?\bchunked_prefill_size=(-?\d+)",),
            "max_prefill_tokens": (r"\bmax_total_num_tokens=.*?\bmax_prefill_tokens=(\d+)",),
            "max_running_requests": (r"\bmax_total_num_tokens=.*?\bmax_running_requests=(\d+)",),
            "context_length": (r"\bmax_total_num_tokens=.*?\bcontext_len=(\d+)",),
            "memory_weight_gb": (r"\bLoad weight end\..*?\bmem usage=([\d.]+)",),
            "memory_graph_gb": (r"\bCapture \w+ graph end\..*?\bmem usage=([\d.]+)",),
            "attention_backend": (
                r"\bAttention backend not explicitly specified\. Use (\w+) backend by default",
            ),
        }.items()
    }
)
_KV_CACHE = re.compile(r"\bKV Cache is allocated\..*?K size: ([\d.]+) GB, V size: ([\d.]+) GB")

# Fact to the names its metric has had, newest first.
_METRICS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "max_total_num_tokens": ("sglang:max_total_num_tokens",),
        "memory_weight_gb": ("sglang:weight_memory_usage_gb",),
        "memory_kv_cache_gb": ("sglang:kv_cache_memory_usage_gb",),
        "memory_graph_gb": ("sglang:graph_memory_usage_gb",),
    }
)
GENERATED = ("sglang:generation_tokens_total", "sglang_generation_tokens_total")
_SAMPLE = re.compile(r"^([A-Za-z_:][\w:]*)(?:\{[^}]*\})? +(\S+)", re.MULTILINE)


def resolved(
    server_info: Mapping[str, Any], *, log: str = "", metrics: str | None = None
) -> dict[str, Fact]:
    """Return what a server settled, each fact from the first place that tells it.

    server_info: the answer of /server_info. log: what it wrote until it was up. metrics: the text
    of /metrics, None where it offers none.
    """
    told = dict(resolution_of(server_info).facts)
    sources = (_graph_memory(server_info), _in_log(log), _in_metrics(metrics or ""))
    for source in sources:
        for fact, value in source.items():
            if told.get(fact) is None:
                told[fact] = value
    return told


def metric(text: str, names: Sequence[str]) -> float | None:
    """Return the first metric of some names that is there, its series added; None for none."""
    values: dict[str, float] = {}
    for name, value in _SAMPLE.findall(text):
        if name in names:
            number = _number(value)
            values[name] = values.get(name, 0.0) + (number or 0.0)
    return next((values[name] for name in names if name in values), None)


def _graph_memory(server_info: Mapping[str, Any]) -> Mapping[str, Fact]:
    """Return the memory of captured graphs: a number, and an object of numbers since 0.5.23."""
    ranks = server_info.get("internal_states")
    first = ranks[0] if isinstance(ranks, list) and ranks else {}
    usage = first.get("memory_usage") if isinstance(first, Mapping) else None
    graph = usage.get("graph") if isinstance(usage, Mapping) else None
    parts = list(graph.values()) if isinstance(graph, Mapping) else [graph]
    numbers = [part for part in parts if isinstance(part, int | float)]
    return {"memory_graph_gb": sum(numbers)} if numbers else {}


def _in_log(log: str) -> Mapping[str, Fact]:
    found: dict[str, Fact] = {}
    for fact, patterns in _LOG.items():
        match = next((seen for pattern in patterns if (seen := pattern.search(log))), None)
        if match is not None:
            found[fact] = _fact(match[1])
    if sizes := _KV_CACHE.search(log):
        found["memory_kv_cache_gb"] = round(float(sizes[1]) + float(sizes[2]), 3)
    return found


def _in_metrics(text: str) -> Mapping[str, Fact]:
    told = {fact: metric(text, names) for fact, names in _METRICS.items()}
    return {
        fact: int(value) if value.is_integer() else value
        for fact, value in told.items()
        if value is not None
    }


def _fact(text: str) -> Fact:
    number = _number(text)
    if number is None:
        return text
    return int(number) if number.is_integer() else number


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
