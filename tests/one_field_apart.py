"""Copies of a dataclass that each differ in one leaf field, so that no new field is forgotten."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any


def one_field_apart(whole: Any) -> Iterator[tuple[str, Any]]:
    """Yield a copy a leaf field, which differs in nothing else, after the field's dotted name."""
    for field in fields(whole):
        value = getattr(whole, field.name)
        if is_dataclass(value):
            for name, copy in one_field_apart(value):
                yield f"{field.name}.{name}", replace(whole, **{field.name: copy})
        else:
            yield field.name, replace(whole, **{field.name: _another(value)})


def _another(value: Any) -> Any:
    """Return another value of the same kind; a map gets one more entry, called 'added'."""
    match value:
        case Enum():
            return next(other for other in type(value) if other is not value)
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return f"{value}-other"
        case None:
            return 4.0
        case Mapping():
            return {**value, "added": "1"}
        case _:
            raise TypeError(value)
