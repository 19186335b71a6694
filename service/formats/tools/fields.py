"""Values taken out of a tool's object: numbers may be text, absent, null, NaN or infinite."""

import math
import re
from collections.abc import Mapping

from service.formats.tools.tool import Document

# A number as a tool writes it, and not all that Python takes for one: 1_000, other scripts' digits.
_NUMBER = re.compile(
    r"\s*[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf|infinity|nan)\s*", re.IGNORECASE
)


def number(document: Document, name: str) -> float | None:
    """Return a field as a finite number; None where it is absent, null or no such number."""
    value = _as_float(document.get(name))
    return value if value is not None and math.isfinite(value) else None


def measured(
    document: Document, keys: Mapping[str, tuple[str, float]]
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Return the metrics above zero among fields, and the names of those that are no quantity.

    No quantity is NaN, infinite, or below zero: what a tool measures begins at 0, which it writes
    for what it did not measure.
    keys: metric name to the field's name and the factor that brings it to the base unit.
    """
    found: dict[str, float] = {}
    not_finite: list[str] = []
    for name, (key, factor) in keys.items():
        held = document.get(key)
        value = held if type(held) is float else _as_float(held)
        if value is None:
            continue
        if not 0 <= value < math.inf:
            not_finite.append(name)
        elif scaled := value * factor:
            found[name] = scaled
    return found, tuple(sorted(not_finite))


def all_zero(document: Document, keys: Mapping[str, tuple[str, float]]) -> bool:
    """Return whether every number among fields is 0: what tools write when all requests failed."""
    zeros = 0
    for key, _ in keys.values():
        value = number(document, key)
        if value:
            return False
        zeros += value is not None
    return zeros > 0


def count(document: Document, name: str) -> int | None:
    """Return a field as a whole number from 0 on, or None."""
    value = whole(document, name)
    return value if value is not None and value >= 0 else None


def above_zero(document: Document, name: str) -> float | None:
    """Return a field as a finite number above zero, or None: tools write 0 or -1 for unknown."""
    value = number(document, name)
    return value if value is not None and value > 0 else None


def whole(document: Document, name: str) -> int | None:
    """Return a field as a whole number, or None."""
    value = number(document, name)
    return int(value) if value is not None and value.is_integer() else None


def is_not_finite(document: Document, name: str) -> bool:
    """Return whether a field holds NaN or an infinity."""
    value = _as_float(document.get(name))
    return value is not None and not math.isfinite(value)


def is_no_quantity(document: Document, name: str) -> bool:
    """Return whether a field holds what nothing measured can be: NaN, infinite or below zero."""
    value = _as_float(document.get(name))
    return value is not None and not 0 <= value < math.inf


def text(document: Document, name: str) -> str | None:
    """Return a field that holds text, as text that can be written anywhere, or None."""
    value = document.get(name)
    return writable(value) if isinstance(value, str) else None


def writable(value: str) -> str:
    """Return text without half and zero characters, which no UTF-8 and no database keeps."""
    return without_halves(value).replace("\0", "?")


def without_halves(value: str) -> str:
    """Return text without half characters: JSON may escape them, names of files may hold them."""
    return value if value.isascii() else value.encode(errors="replace").decode()


def section(document: Document, name: str) -> Document:
    """Return a field that holds an object; an empty one where it does not."""
    value = document.get(name)
    return value if isinstance(value, dict) else {}


def _as_float(value: object) -> float | None:
    if type(value) is float:
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str) and not _NUMBER.fullmatch(value):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None
