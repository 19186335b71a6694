"""How much of a card's memory a launch should take, told before it by the model's own files."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runners.preflight.host import weights_bytes
from service.domain.condition import Condition
from service.domain.kv_cache import tokens_in_flight
from service.domain.resolution import Fact

GIB = 2**30
# What a rank takes beside weights and KV cache: Python, torch, SGLang, captured graphs.
RANK_BYTES = 3 * 2**29
_BYTES: Mapping[str, int] = {"float32": 4, "bfloat16": 2, "float16": 2, "int8": 1}


@dataclass(frozen=True, slots=True)
class Estimate:
    """What one card should hold. token_bytes: a token's keys and values, None where unknown.

    tokens: the most that are in flight in any cell.
    """

    weights_bytes: int
    token_bytes: int | None
    tokens: int

    @property
    def kv_bytes(self) -> int:
        """The keys and values of the fullest moment."""
        return (self.token_bytes or 0) * self.tokens

    @property
    def needed_bytes(self) -> int:
        """What must be free on the card."""
        return self.weights_bytes + self.kv_bytes + RANK_BYTES


def estimate(folder: Path, conditions: Sequence[Condition], *, cards: int) -> Estimate:
    """Return what a launch of these cells should take of each of its cards."""
    tokens = max((_tokens(condition) for condition in conditions), default=0)
    first = next(iter(conditions), None)
    token = _token_bytes(config_of(folder), first) if first else None
    return Estimate(weights_bytes(folder) // cards, token, tokens)


def compared(settled: Mapping[str, Fact], before: Estimate) -> str:
    """Return the estimate beside the server's own figures; nothing where it tells none."""
    tokens, cache = settled.get("max_total_num_tokens"), settled.get("memory_kv_cache_gb")
    told = []
    if isinstance(cache, int | float) and isinstance(tokens, int) and tokens and before.token_bytes:
        own = float(cache) * GIB / tokens
        told.append(f"a token takes {own:.0f} B there, {before.token_bytes} B were estimated")
    held = settled.get("memory_weight_gb")
    if isinstance(held, int | float):
        estimated = before.weights_bytes / GIB
        told.append(f"weights take {held:.2f} GiB there, {estimated:.2f} GiB were estimated")
    return "; ".join(told)


def _tokens(condition: Condition) -> int:
    traffic = condition.traffic
    return tokens_in_flight(condition) or traffic.input_tokens + traffic.output_tokens


def config_of(folder: Path) -> Mapping[str, Any]:
    """Return a model's own config, of its text part where it has several; empty if unreadable."""
    try:
        read = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        return dict(read.get("text_config") or read)
    except (OSError, ValueError, AttributeError):
        return {}


def _token_bytes(config: Mapping[str, Any], condition: Condition) -> int | None:
    """Return the bytes of a token's keys and values on one rank, None for an unknown shape.

    Heads are divided among the ranks, and each has one at least; a latent cache is not divided.
    """
    layers, size = config.get("num_hidden_layers"), _value_bytes(config, condition)
    if not isinstance(layers, int) or size is None:
        return None
    if latent := config.get("kv_lora_rank"):
        return int(layers * (latent + config.get("qk_rope_head_dim", 0)) * size)
    heads = config.get("num_key_value_heads") or config.get("num_attention_heads")
    width = config.get("head_dim") or _width(config)
    if not heads or not width:
        return None
    share = max(heads // condition.parallelism.tp, 1)
    return int(layers * share * width * 2 * size)


def _width(config: Mapping[str, Any]) -> int:
    heads, hidden = config.get("num_attention_heads"), config.get("hidden_size")
    return hidden // heads if heads and hidden else 0


def _value_bytes(config: Mapping[str, Any], condition: Condition) -> int | None:
    asked = condition.model.kv_dtype
    return value_bytes(config, condition.model.dtype if asked in {"", "auto"} else asked)


def value_bytes(config: Mapping[str, Any], dtype: str) -> int | None:
    """Return the bytes of a value in that dtype, or in the config's for 'auto'; None: unknown."""
    asked = (dtype, config.get("torch_dtype"), config.get("dtype"))
    name = next((each for each in asked if each and each != "auto"), "")
    return 1 if str(name).startswith("fp8") else _BYTES.get(str(name))
