"""Digests that say which weights and which tokenizer a folder holds, without reading gigabytes."""

import struct
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path

_TOKENIZER = (
    "tokenizer*.json",
    "tokenizer.model",
    "*.tiktoken",
    "vocab.json",
    "vocab.txt",
    "merges.txt",
    "added_tokens.json",
    "special_tokens_map.json",
    "chat_template.jin*",
    "chat_template.json",
)
_HEADER_LIMIT_BYTES = 100_000_000  # the format's own limit


class WeightsError(ValueError):
    """A folder does not hold a model that can be served."""


def weights_digest(folder: Path) -> str:
    """Return the SHA-256 over config, tokenizer, shard index, safetensors headers and sizes.

    Raises WeightsError when config, tokenizer or weights are absent or unreadable.
    """
    shards = sorted(folder.glob("*.safetensors"))
    if not shards or not (folder / "config.json").is_file():
        raise WeightsError(f"{folder} holds no config.json with safetensors beside it")
    digest = sha256()
    plain = [folder / "config.json", *sorted(folder.glob("*.safetensors.index.json"))]
    for path in (*plain, *_tokenizer_files(folder)):
        _add(digest.update, path.name, [path.read_bytes()])
    for path in shards:
        _add(digest.update, path.name, [_header(path), str(path.stat().st_size).encode()])
    return digest.hexdigest()


def tokenizer_digest(folder: Path) -> str:
    """Return the SHA-256 over the names and bytes of a tokenizer's files. Raises WeightsError."""
    digest = sha256()
    for path in _tokenizer_files(folder):
        _add(digest.update, path.name, [path.read_bytes()])
    return digest.hexdigest()


def _tokenizer_files(folder: Path) -> list[Path]:
    found = {path for pattern in _TOKENIZER for path in folder.glob(pattern)}
    if not found:
        raise WeightsError(f"{folder} holds no tokenizer")
    return sorted(found)


def _add(update: Callable[[bytes], None], name: str, contents: Iterable[bytes]) -> None:
    """Add a file under its name, each part behind its length, so no two files read alike."""
    for part in (name.encode(), *contents):
        update(struct.pack("<Q", len(part)))
        update(part)


def _header(path: Path) -> bytes:
    with path.open("rb") as stream:
        prefix = stream.read(8)
        length = struct.unpack("<Q", prefix)[0] if len(prefix) == struct.calcsize("<Q") else 0
        if not 0 < length < min(_HEADER_LIMIT_BYTES, path.stat().st_size):
            raise WeightsError(f"{path} is not a safetensors file")
        return stream.read(length)
