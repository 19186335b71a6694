"""What a server says of itself: its resolution, what it tells of the condition, secrets removed."""

import math
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from service.domain.resolution import Fact, Resolution
from service.formats.tools.fields import section, writable

REDACTED = "<redacted>"

# Secret by name: a key, a password, a secret or a credential, or a token that opens a door.
# Counts of tokens and tokenizers are not.
_SECRET_NAME = re.compile(
    r"(^|[_-])keys?([_-]|$)|api_?key|keyfile|passw|secret|credential|bearer"
    r"|(^|[_-])(auth|access|hf|hub|api|refresh|session)[_-]?token$|^token$",
    re.IGNORECASE,
)
_SECRET_FLAG = re.compile(
    r"(--[\w-]*(?:key|passw|secret|credential|auth-token|access-token)[\w-]*)(=|\s+)(?!-)"
    r"(\"[^\"]*\"|'[^']*'|\S+)",
    re.IGNORECASE,
)
# As a program prints its settings: api_key='…', HF_TOKEN=…, "password": "…". A bare 'key' is not
# taken for one here: logs name the keys of maps.
_SECRET_SETTING = re.compile(
    r"((?:\b|_)(?:api_?key|secret|password|passwd|credentials?|(?:auth|access|hf|hub|api|refresh|"
    r"session)[_-]?token|private_key|secret_key|access_key)[\"']?\s*[=:]\s*)"
    r"(?!(?:None|null|True|true|False|false)\b)(\"[^\"]*\"|'[^']*'|[^\s,;)}\]\"']+)",
    re.IGNORECASE,
)
_SECRET_HEADER = re.compile(r"(\bBearer\s+)[^\s,;)}\]\"']+", re.IGNORECASE)
_SECRET_IN_URL = re.compile(r"(?<=://)[^/\s@]+(?=@)")

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
    sources = (server_info, _first_rank(server_info))
    found: dict[str, Fact] = {}
    for fact, names in FACTS.items():
        told = [
            value
            for name in names
            for source in sources
            if (value := _lookup(source, name)) is not _ABSENT
        ]
        if told:
            found[fact] = _fact(next((value for value in told if value is not None), None))
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


def redacted(server_info: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy without secrets: by their names, in command lines and in addresses.

    Null and booleans stay, so it can still be seen whether one was set at all.
    """
    return {
        name: REDACTED if _is_secret(name, value) else _without_secrets(value)
        for name, value in server_info.items()
    }


def redacted_text(text: str) -> str:
    """Return a text without secrets: of flags, of settings by name, of headers and of addresses."""
    text = _SECRET_FLAG.sub(rf"\1\2{REDACTED}", text)
    text = _SECRET_SETTING.sub(rf"\1{REDACTED}", text)
    return _SECRET_IN_URL.sub(REDACTED, _SECRET_HEADER.sub(rf"\1{REDACTED}", text))


def _is_secret(name: str, value: object) -> bool:
    return _SECRET_NAME.search(name) is not None and not isinstance(value, bool | None)


def _without_secrets(value: object) -> object:
    if isinstance(value, Mapping):
        return redacted(value)
    if isinstance(value, list):
        return [_without_secrets(item) for item in value]
    return redacted_text(value) if isinstance(value, str) else value


class _Absent:
    """The mark of a name that an object does not have; null is a value."""


_ABSENT = _Absent()


def _first_rank(server_info: Mapping[str, Any]) -> Mapping[str, Any]:
    ranks = server_info.get("internal_states")
    if isinstance(ranks, list) and ranks and isinstance(ranks[0], Mapping):
        return ranks[0]
    return {}


def _lookup(source: Mapping[str, Any], name: str) -> object:
    first, _, rest = name.partition(".")
    if rest:
        return _lookup(section(source, first), rest)
    return source.get(first, _ABSENT)


def _fact(value: object) -> Fact:
    if isinstance(value, bool | int | None):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, list):
        return writable(",".join(str(item) for item in value))
    return writable(str(value))
