"""Where two identities differ, field by field."""

from collections.abc import Mapping
from dataclasses import dataclass

from service.domain.key import plain

ABSENT = "(absent)"


@dataclass(frozen=True, slots=True)
class Difference:
    """One field with its value on both sides; an absent field reads '(absent)'."""

    field: str
    baseline: str
    candidate: str

    def __str__(self) -> str:
        return f"{self.field}: {self.baseline} ≠ {self.candidate}"


def differences(baseline: object, candidate: object) -> tuple[Difference, ...]:
    """Return every leaf in which two values differ, sorted by its dotted field name.

    baseline, candidate: anything with a canonical form (see service.domain.key).
    """
    left, right = _leaves(plain(baseline)), _leaves(plain(candidate))
    return tuple(
        Difference(name, left.get(name, ABSENT), right.get(name, ABSENT))
        for name in sorted(left.keys() | right.keys())
        if left.get(name, ABSENT) != right.get(name, ABSENT)
    )


def _leaves(value: object, prefix: str = "") -> dict[str, str]:
    if isinstance(value, Mapping):
        found: dict[str, str] = {}
        for name, item in value.items():
            found |= _leaves(item, f"{prefix}.{name}" if prefix else str(name))
        return found
    return {prefix: _text(value)}


def _text(value: object) -> str:
    return "null" if value is None else str(value)
