"""The seeded model is the same everywhere, and every id of its tokenizer is text and that id."""

import json
import struct
from collections import Counter
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import yaml

from runners.stacks.tiny_model import TinyLlama, TinyModelError, made, write
from runners.stacks.tiny_tokenizer import ALPHABET, VocabularyError, tokenizer_json, vocabulary
from runners.stacks.weights import WeightsError, tokenizer_digest, weights_digest

MODEL_FILE = Path(__file__).parents[2] / "matrix" / "models" / "tiny-llama.yaml"
SMALL = TinyLlama(seed=1, vocab=400, hidden=16, layers=1, heads=2, kv_heads=1, context=64)
FULL_VOCABULARY = 10240


def test_the_model_file_pins_the_digests_of_what_is_made(tmp_path: Path) -> None:
    stated = yaml.safe_load(MODEL_FILE.read_text(encoding="utf-8"))
    recipe = {name: value for name, value in stated["maker"].items() if name != "kind"}

    folder = made(TinyLlama(**recipe), cache=tmp_path)

    assert weights_digest(folder) == stated["weights_digest"]
    assert tokenizer_digest(folder) == stated["tokenizer_digest"]


def encoded(text: str, merges: dict[tuple[str, str], int]) -> list[str]:
    """Return the pieces of one word by byte-pair encoding, written the slow and obvious way."""
    pieces = list(text)
    while pairs := [pair for pair in pairwise(pieces) if pair in merges]:
        first = min(pairs, key=lambda pair: merges[pair])
        at = next(i for i in range(len(pieces)) if tuple(pieces[i : i + 2]) == first)
        pieces[at : at + 2] = ["".join(first)]
    return pieces


def test_every_id_is_text_and_that_text_is_that_id_alone() -> None:
    tokens, merges = vocabulary(FULL_VOCABULARY)
    ranks = {pair: rank for rank, pair in enumerate(merges)}

    assert len(set(tokens)) == FULL_VOCABULARY
    assert all(tokens)
    assert [token for token in tokens if encoded(token, ranks) != [token]] == []


def test_no_token_is_special_so_none_is_left_out_of_a_text() -> None:
    tokenizer = tokenizer_json(FULL_VOCABULARY)

    assert tokenizer["added_tokens"] == []
    assert tokenizer["decoder"] == {"type": "Fuse"}


@pytest.mark.parametrize("size", [len(ALPHABET), 100_000], ids=["too small", "too large"])
def test_a_vocabulary_that_the_words_cannot_make_is_refused(size: int) -> None:
    with pytest.raises(VocabularyError, match=str(size)):
        vocabulary(size)


def test_heads_must_divide_the_hidden_size() -> None:
    with pytest.raises(TinyModelError):
        replace(SMALL, heads=3)


def test_one_recipe_makes_the_same_bytes_and_another_seed_makes_others(tmp_path: Path) -> None:
    for name, model in (("a", SMALL), ("b", SMALL), ("c", replace(SMALL, seed=2))):
        write(model, tmp_path / name)
    contents = Counter((tmp_path / name / "model.safetensors").read_bytes() for name in "abc")

    assert sorted(contents.values()) == [1, 2]


def test_the_header_states_the_digest_and_the_place_of_every_value(tmp_path: Path) -> None:
    write(SMALL, tmp_path / "model")
    content = (tmp_path / "model" / "model.safetensors").read_bytes()

    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    values = content[8 + length :]

    assert header.pop("__metadata__")["sha256"] == sha256(values).hexdigest()
    assert sum(2 * np.prod(tensor["shape"]) for tensor in header.values()) == len(values)
    assert max(tensor["data_offsets"][1] for tensor in header.values()) == len(values)


def test_weights_have_a_variance_of_one_over_their_inputs(tmp_path: Path) -> None:
    write(replace(SMALL, vocab=4000), tmp_path / "model")
    content = (tmp_path / "model" / "model.safetensors").read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    begin, end = json.loads(content[8 : 8 + length])["lm_head.weight"]["data_offsets"]
    bits = np.frombuffer(content[8 + length :][begin:end], dtype="<u2").astype("<u4") << 16

    values = bits.view("<f4")

    assert float(np.std(values)) == pytest.approx(16**-0.5, rel=0.02)
    assert float(np.mean(values)) == pytest.approx(0, abs=0.005)


def test_a_made_model_is_used_again_and_a_half_made_one_never(tmp_path: Path) -> None:
    folder = made(SMALL, cache=tmp_path)
    when = (folder / "model.safetensors").stat().st_mtime_ns
    assert made(SMALL, cache=tmp_path) == folder
    assert (folder / "model.safetensors").stat().st_mtime_ns == when

    (folder / "made.json").unlink()
    (folder / "config.json").write_text("half")
    again = made(SMALL, cache=tmp_path)

    assert json.loads((again / "config.json").read_text())["model_type"] == "llama"
    assert not folder.with_suffix(".making").exists()


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "tokenizer_config.json"])
def test_a_changed_file_changes_the_weights_digest(tmp_path: Path, name: str) -> None:
    write(SMALL, tmp_path / "model")
    before = weights_digest(tmp_path / "model")

    (tmp_path / "model" / name).write_text("{}")

    assert weights_digest(tmp_path / "model") != before


def test_a_readme_beside_the_weights_changes_no_digest(tmp_path: Path) -> None:
    write(SMALL, tmp_path / "model")
    before = weights_digest(tmp_path / "model"), tokenizer_digest(tmp_path / "model")

    (tmp_path / "model" / "README.md").write_text("words")

    assert (weights_digest(tmp_path / "model"), tokenizer_digest(tmp_path / "model")) == before


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param("model.safetensors", b"", id="an empty shard"),
        pytest.param("model.safetensors", b"\xff" * 64, id="a header longer than the file"),
        pytest.param("config.json", None, id="no config"),
        pytest.param("tokenizer.json", None, id="no tokenizer"),
    ],
)
def test_a_folder_that_cannot_be_served_is_refused(
    tmp_path: Path, name: str, content: bytes | None
) -> None:
    folder = tmp_path / "model"
    write(SMALL, folder)
    if content is None:
        (folder / name).unlink()
        (folder / "tokenizer_config.json").unlink()
    else:
        (folder / name).write_bytes(content)

    with pytest.raises(WeightsError):
        weights_digest(folder)
