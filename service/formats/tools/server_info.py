"""What a server says of itself: its resolution, and what it tells of the condition."""

import math
from collections.abc import Mapping
from functools import reduce
from itertools import product
from types import MappingProxyType
from typing import Any

from service.domain.resolution import Fact, Resolution
from service.domain.validity import RunFacts
from service.formats.tools.fields import section, text, whole, writable
from service.formats.tools.tool import Document, Parsed, Tool

NAME = "sglang.server_info"

# Fact to the names it has had, newest first; dots lead into an object.
FACTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "version": ("version",),
        "device": ("device",),
        "attention_backend": ("attention_backend",),
        "prefill_attention_backend": ("prefill_attention_backend",),
        "decode_attention_backend": ("decode_attention_backend",),
        "sampling_backend": ("sampling_backend",),
        "grammar_backend": ("grammar_backend",),
        "moe_runner_backend": ("moe_runner_backend",),
        "dtype": ("dtype",),
        "quantization": ("quantization",),
        "kv_cache_dtype": ("kv_cache_dtype",),
        "page_size": ("page_size",),
        "context_length": ("context_length",),
        "chunked_prefill_size": ("chunked_prefill_size",),
        "max_prefill_tokens": ("max_prefill_tokens",),
        "max_total_num_tokens": ("max_total_num_tokens", "memory_usage.token_capacity"),
        "max_running_requests": (
            "effective_max_running_requests_per_dp",
            "max_running_requests",
        ),
        "mem_fraction_static": ("mem_fraction_static",),
        "schedule_policy": ("schedule_policy",),
        "sampling_defaults": ("sampling_defaults",),
        "stream_interval": ("stream_interval",),
        "disable_radix_cache": ("disable_radix_cache",),
        "disable_overlap_schedule": ("disable_overlap_schedule",),
        "disable_cuda_graph": ("disable_cuda_graph",),
        "disable_piecewise_cuda_graph": ("disable_piecewise_cuda_graph",),
        "cuda_graph_backend_decode": ("cuda_graph_config.decode.backend",),
        "cuda_graph_backend_prefill": ("cuda_graph_config.prefill.backend",),
        "cuda_graph_max_bs": ("cuda_graph_config.decode.max_bs", "cuda_graph_max_bs"),
        "cuda_graph_bs": ("decode_cuda_graph_bs", "cuda_graph_config.decode.bs", "cuda_graph_bs"),
        "enable_torch_compile": ("enable_torch_compile",),
        "speculative_algorithm": ("speculative_algorithm",),
        "memory_weight_gb": ("memory_usage.weight",),
        "memory_kv_cache_gb": ("memory_usage.kvcache",),
    }
)

# Those of one name that leads into no object, and the others, each name as the way to its object
# and its name there.
_PLAIN = MappingProxyType(
    {fact: names[0] for fact, names in FACTS.items() if len(names) == 1 and "." not in names[0]}
)
_PLACES = MappingProxyType(
    {
        fact: tuple((tuple(way[:-1]), way[-1]) for way in (name.split(".") for name in names))
        for fact, names in FACTS.items()
        if fact not in _PLAIN
    }
)
_FOLDERS = frozenset(folder for places in _PLACES.values() for folder, _ in places)

# What a server tells of the condition it ran under; the model is known by its folder's name,
# because where it lies says nothing of its speed.
_CONDITION = MappingProxyType(
    {
        "tp": "tp_size",
        "pp": "pp_size",
        "dp": "dp_size",
        "ep": "ep_size",
        "dtype": "dtype",
        "quantization": "quantization",
        "kv_dtype": "kv_cache_dtype",
    }
)


def resolution_of(server_info: Mapping[str, Any]) -> Resolution:
    """Return what a server settled by itself, each fact under the first of its names that is there.

    server_info: the answer of /server_info or /get_server_info, of any release. With several data
    parallel ranks the first one speaks. A fact that no name tells is absent.
    """
    rank = _first_rank(server_info)
    found: dict[str, Fact] = {}
    for fact, name in _PLAIN.items():
        value = server_info.get(name)
        if value is None:
            value = rank.get(name)
        if value is not None:
            found[fact] = _fact(value)
        elif name in server_info or name in rank:
            found[fact] = None
    views = (_view(server_info), _view(rank))
    for fact, places in _PLACES.items():
        for (folder, name), view in product(places, views):
            held = view[folder]
            if name in held and found.get(fact) is None:
                found[fact] = None if held[name] is None else _fact(held[name])
    return Resolution(found)


def condition_told(server_info: Mapping[str, Any]) -> dict[str, Fact]:
    """Return what a server tells of the condition: model, parallelism and precision."""
    told = {
        name: _fact(server_info[source])
        for name, source in _CONDITION.items()
        if source in server_info
    }
    model = server_info.get("served_model_name") or server_info.get("model_path")
    if isinstance(model, str) and model.strip("/"):
        told["model"] = writable(model.rstrip("/").rpartition("/")[2])
    return told


def recognises(document: Document) -> bool:
    """Return whether an object is what a server of any release answers of itself."""
    names = document.keys()
    return {"model_path", "tp_size"} <= names and not names.isdisjoint(
        {"internal_states", "max_total_num_tokens", "mem_fraction_static"}
    )


def parse(document: Document) -> tuple[Parsed]:
    """Return what a server tells of itself: no load's values, but what it settled."""
    resolution = resolution_of(document)
    capacity = whole(resolution.facts, "max_total_num_tokens")
    radix_off = resolution.facts.get("disable_radix_cache") is True
    parsed = Parsed(
        tool_version=text(document, "version"),
        definition=1,
        condition=condition_told(document),
        metrics={"kv_capacity": float(capacity)} if capacity else {},
        facts=RunFacts(streamed=False, cold=False if radix_off else None, kv_capacity=capacity),
        resolution=resolution,
    )
    return (parsed,)


def _first_rank(server_info: Mapping[str, Any]) -> Mapping[str, Any]:
    ranks = server_info.get("internal_states")
    if isinstance(ranks, list) and ranks and isinstance(ranks[0], Mapping):
        return ranks[0]
    return {}


def _view(source: Mapping[str, Any]) -> dict[tuple[str, ...], Mapping[str, Any]]:
    """Return the objects within an object that facts are told in, by the way that leads there."""
    return {folder: reduce(section, folder, source) for folder in _FOLDERS}


def _fact(value: object) -> Fact:
    if isinstance(value, bool | int | None):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, list):
        return writable(",".join(str(item) for item in value))
    return writable(str(value))


TOOL = Tool(NAME, recognises, parse)
