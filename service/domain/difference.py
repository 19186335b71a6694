"""Where two identities differ, field by field."""

from collections.abc import Mapping
from dataclasses import dataclass

from service.domain.key import canonical_json, plain

ABSENT = "(absent)"
# In the name of a field whose two values stand on one side, which therefore contradicts itself.
WITHIN = "within the"


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
        _difference(name, left.get(name, _NOTHING), right.get(name, _NOTHING))
        for name in sorted(left.keys() | right.keys())
        if _is_other(left.get(name, _NOTHING), right.get(name, _NOTHING))
    )


def _difference(name: str, left: object, right: object) -> Difference:
    """Return a difference in words; values that read alike, as 64 and "64", are shown as JSON."""
    texts = _text(left), _text(right)
    if texts[0] == texts[1]:
        texts = _canonical(left), _canonical(right)
    return Difference(name, *texts)


class _Nothing:
    """The mark of a field that one side does not have."""


_NOTHING = _Nothing()


def _canonical(value: object) -> str:
    return ABSENT if value is _NOTHING else canonical_json(value)


def _is_other(left: object, right: object) -> bool:
    # Most leaves are equal words and numbers, and two canonical forms cost more than a look.
    if type(left) is type(right) and isinstance(left, str | int) and left == right:
        return False
    return _canonical(left) != _canonical(right)


def _leaves(value: object, prefix: str = "") -> dict[str, object]:
    if isinstance(value, Mapping):
        found: dict[str, object] = {}
        for name, item in value.items():
            found |= _leaves(item, f"{prefix}.{name}" if prefix else str(name))
        return found
    return {prefix: value}


def text_of(value: object) -> str:
    """Return a value as people read it; null where it is told to be nothing."""
    return "null" if value is None else str(value)


def _text(value: object) -> str:
    return ABSENT if value is _NOTHING else text_of(value)
