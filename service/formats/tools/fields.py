"""Values taken out of a tool's object: numbers may be text, absent, null, NaN or infinite."""

import math

from service.formats.tools.tool import Document


def number(document: Document, name: str) -> float | None:
    """Return a field as a finite number; None where it is absent, null or no such number."""
    value = _as_float(document.get(name))
    return value if value is not None and math.isfinite(value) else None


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


def text(document: Document, name: str) -> str | None:
    """Return a field that holds text, as text that can be written anywhere, or None."""
    value = document.get(name)
    return writable(value) if isinstance(value, str) else None


def writable(value: str) -> str:
    """Return text without half characters, which JSON may escape and UTF-8 cannot hold."""
    return value.encode(errors="replace").decode()


def section(document: Document, name: str) -> Document:
    """Return a field that holds an object; an empty one where it does not."""
    value = document.get(name)
    return value if isinstance(value, dict) else {}


def _as_float(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None
