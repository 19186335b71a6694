"""What a launch should take of a card, told by the model's own files before it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from runners.preflight.capacity import RANK_BYTES, compared, estimate
from service.domain.condition import Condition, Parallelism
from tests.runner_orders import condition

LLAMA = {
    "num_hidden_layers": 4,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "hidden_size": 512,
    "torch_dtype": "bfloat16",
}
LATENT = {**LLAMA, "kv_lora_rank": 512, "qk_rope_head_dim": 64}


def model(folder: Path, config: dict[str, object]) -> Path:
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "model.safetensors").write_bytes(b"w" * 1000)
    return folder


def on(cards: int) -> Condition:
    one = condition()
    served = replace(one.model, dtype="auto", kv_dtype="auto")
    return replace(one, model=served, parallelism=Parallelism(tp=cards))


@pytest.mark.parametrize(
    ("config", "cards", "token_bytes"),
    [
        pytest.param(LLAMA, 1, 4 * 2 * 64 * 2 * 2, id="one card holds every head"),
        pytest.param(LLAMA, 2, 4 * 1 * 64 * 2 * 2, id="two cards share them"),
        pytest.param(LLAMA, 4, 4 * 1 * 64 * 2 * 2, id="a card holds one head at least"),
        pytest.param(LATENT, 4, 4 * 576 * 2, id="a latent cache is not divided"),
        pytest.param({**LLAMA, "torch_dtype": "odd"}, 1, None, id="an unknown precision"),
        pytest.param({}, 1, None, id="an unknown shape"),
    ],
)
def test_a_tokens_keys_and_values_follow_from_the_models_shape(
    config: dict[str, object], cards: int, token_bytes: int | None, tmp_path: Path
) -> None:
    found = estimate(model(tmp_path, config), [on(cards)], cards=cards)

    assert found.token_bytes == token_bytes
    assert found.weights_bytes == 1000 // cards
    assert found.needed_bytes == found.weights_bytes + found.kv_bytes + RANK_BYTES


def test_the_estimate_stands_beside_the_servers_own_figures(tmp_path: Path) -> None:
    before = estimate(model(tmp_path, LLAMA), [on(1)], cards=1)
    settled = {"max_total_num_tokens": 1024, "memory_kv_cache_gb": 0.002, "memory_weight_gb": 0.5}

    told = compared(settled, before)

    assert told.startswith("a token takes 2097 B there, 2048 B were estimated")
    assert "weights take 0.50 GiB there" in told
    assert compared({}, before) == ""
