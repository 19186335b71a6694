"""A small seeded Llama, the same bytes on every machine, made without torch."""

import fcntl
import json
import shutil
import struct
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from runners.stacks.tiny_tokenizer import tokenizer_config, tokenizer_json
from service.domain.key import content_key

# Raised when the same recipe would make other bytes.
MAKER_REVISION = 1

MAKER = "tiny_llama"
_MARKER = "made.json"

# The standard deviation of the sum of four independent uniform 16-bit integers.
_IRWIN_HALL_SIGMA = float(np.sqrt(4 * (2**32 - 1) / 12))


class TinyModelError(ValueError):
    """A recipe of a made model does not describe one."""


@dataclass(frozen=True, slots=True)
class TinyLlama:
    """The shape of the model; its weights follow from the seed. Sizes are in elements."""

    seed: int
    vocab: int
    hidden: int
    layers: int
    heads: int
    kv_heads: int
    context: int

    def __post_init__(self) -> None:
        if self.hidden % self.heads or self.heads % self.kv_heads:
            raise TinyModelError("heads divide the hidden size, and kv_heads divide the heads")

    @property
    def intermediate(self) -> int:
        """The width of the feed-forward part."""
        return self.hidden * 3


def shape_of(maker: Mapping[str, bool | float | str]) -> TinyLlama:
    """Return the shape that a matrix file asks for. Raises TinyModelError."""
    values = dict(maker)
    if (kind := values.pop("kind", None)) != MAKER:
        raise TinyModelError(f"no path, and no maker {kind!r}; there is {MAKER!r}")
    try:
        return TinyLlama(**{name: int(value) for name, value in values.items()})
    except (TypeError, ValueError) as error:
        raise TinyModelError(str(error)) from error


def made(model: TinyLlama, *, cache: Path) -> Path:
    """Return the folder of a made model, written now unless it is there already.

    cache: it is kept in a folder of it named by content; what has that name is whole.
    """
    models = cache / "models"
    models.mkdir(parents=True, exist_ok=True)
    digest = content_key({"maker": MAKER, "revision": MAKER_REVISION, **asdict(model)})
    folder = models / digest
    with (models / f"{digest}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / _MARKER).is_file():
            being_made = folder.with_suffix(".making")
            for left_over in (being_made, folder):
                shutil.rmtree(left_over, ignore_errors=True)
            write(model, being_made)
            being_made.rename(folder)
    return folder


def write(model: TinyLlama, folder: Path) -> None:
    """Write config, tokenizer and weights into a new folder."""
    folder.mkdir(parents=True)
    _write_json(folder / "config.json", _config(model))
    _write_json(folder / "tokenizer.json", tokenizer_json(model.vocab))
    _write_json(folder / "tokenizer_config.json", tokenizer_config(model.context))
    (folder / "model.safetensors").write_bytes(_safetensors(_weights(model)))
    _write_json(folder / _MARKER, asdict(model))


def _config(model: TinyLlama) -> dict[str, object]:
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": model.vocab,
        "hidden_size": model.hidden,
        "intermediate_size": model.intermediate,
        "num_hidden_layers": model.layers,
        "num_attention_heads": model.heads,
        "num_key_value_heads": model.kv_heads,
        "head_dim": model.hidden // model.heads,
        "max_position_embeddings": model.context,
        "hidden_act": "silu",
        "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0,
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": False,
        "bos_token_id": 0,
        "eos_token_id": 0,
        "torch_dtype": "bfloat16",
    }


def _shapes(model: TinyLlama) -> dict[str, tuple[int, ...]]:
    hidden, kv = model.hidden, model.hidden // model.heads * model.kv_heads
    shapes: dict[str, tuple[int, ...]] = {"model.embed_tokens.weight": (model.vocab, hidden)}
    for number in range(model.layers):
        layer = f"model.layers.{number}"
        shapes |= {
            f"{layer}.input_layernorm.weight": (hidden,),
            f"{layer}.self_attn.q_proj.weight": (hidden, hidden),
            f"{layer}.self_attn.k_proj.weight": (kv, hidden),
            f"{layer}.self_attn.v_proj.weight": (kv, hidden),
            f"{layer}.self_attn.o_proj.weight": (hidden, hidden),
            f"{layer}.post_attention_layernorm.weight": (hidden,),
            f"{layer}.mlp.gate_proj.weight": (model.intermediate, hidden),
            f"{layer}.mlp.up_proj.weight": (model.intermediate, hidden),
            f"{layer}.mlp.down_proj.weight": (hidden, model.intermediate),
        }
    return shapes | {"model.norm.weight": (hidden,), "lm_head.weight": (model.vocab, hidden)}


def _weights(model: TinyLlama) -> dict[str, NDArray[np.uint16]]:
    """Return every tensor as bfloat16 bits.

    Projections have a variance of one over their inputs, so logits are far enough apart that a
    greedy answer does not hang on the last bit. Norms are ones.
    """
    bits = np.random.PCG64(model.seed)
    weights = {}
    for name, shape in _shapes(model).items():
        if len(shape) == 1:
            values = np.ones(shape, dtype=np.float32)
        else:
            values = _bell(bits, shape) * np.float32(shape[1] ** -0.5)
        weights[name] = _bfloat16(values)
    return weights


def _bell(bits: np.random.PCG64, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Return bell-shaped values of variance one: sums of four uniform integers (Irwin-Hall).

    Integers and one multiplication alone, so that every machine makes the same bytes; numpy keeps
    the stream of a bit generator, but not that of its distributions, from release to release.
    """
    raw = bits.random_raw(int(np.prod(shape))).astype("<u8").view("<u2").reshape(-1, 4)
    centred = raw.astype(np.int32).sum(axis=1, dtype=np.int32) - 2 * 65535
    scaled: NDArray[np.float32] = centred.astype(np.float32) * np.float32(1 / _IRWIN_HALL_SIGMA)
    return scaled.reshape(shape)


def _bfloat16(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    """Return the bits of the nearest bfloat16, halves to even."""
    wide = values.astype("<f4").view("<u4")
    rounded = wide + np.uint32(0x7FFF) + ((wide >> np.uint32(16)) & np.uint32(1))
    return (rounded >> np.uint32(16)).astype("<u2")


def _safetensors(weights: dict[str, NDArray[np.uint16]]) -> bytes:
    """Return a safetensors file, after the format's specification in its README.

    Its header holds the digest of the values, so that a digest of headers covers them.
    """
    values = b"".join(weights[name].tobytes() for name in weights)
    header: dict[str, object] = {
        "__metadata__": {"format": "pt", "sha256": sha256(values).hexdigest()}
    }
    offset = 0
    for name, tensor in weights.items():
        end = offset + tensor.nbytes
        header[name] = {"dtype": "BF16", "shape": tensor.shape, "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + values


def _write_json(path: Path, value: dict[str, object]) -> None:
    text = json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")
