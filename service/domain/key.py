"""Canonical JSON, and the content keys made from it."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from hashlib import sha256

SHORT_KEY_LENGTH = 12


class NotCanonicalError(TypeError):
    """A value has no canonical form: its key would not be stable."""


def canonical_json(value: object) -> str:
    """Return the one JSON text of a value: sorted keys, no spaces, normalised numbers.

    value: nested mappings, sequences, frozen dataclasses, enums, text, numbers, booleans, None.
    A float without a fraction is written as an integer, so 1.0 and 1 have one text.
    Raises NotCanonicalError for anything else, NaN and infinities included.
    """
    return json.dumps(plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def content_key(value: object) -> str:
    """Return the SHA-256 of a value's canonical JSON, as 64 hex digits."""
    return sha256(canonical_json(value).encode()).hexdigest()


def short(key: str) -> str:
    """Return a key as people see it: its first 12 hex digits."""
    return key[:SHORT_KEY_LENGTH]


def plain(value: object) -> object:
    """Return a value as mappings, lists and scalars alone. Raises NotCanonicalError."""
    match value:
        case None | bool() | str() if not isinstance(value, Enum):
            return value
        case Enum():
            return plain(value.value)
        case int():
            return value
        case float():
            return _number(value)
        case Mapping():
            return {_name(key): plain(item) for key, item in value.items()}
        case Sequence() if not isinstance(value, bytes | bytearray | memoryview):
            return [plain(item) for item in value]
        case _ if is_dataclass(value) and not isinstance(value, type):
            return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
        case _:
            raise NotCanonicalError(f"{type(value).__name__} has no canonical form: {value!r}")


def _number(value: float) -> int | float:
    if not math.isfinite(value):
        raise NotCanonicalError(f"{value} is not a number that JSON can hold")
    return int(value) if value.is_integer() else value


def _name(key: object) -> str:
    if not isinstance(key, str):
        raise NotCanonicalError(f"a map's keys are text, not {key!r}")
    return key
