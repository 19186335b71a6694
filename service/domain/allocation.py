"""A refused allocation in a server's log: too little memory in all, or none in one piece.

What PyTorch's allocator says when it gives up tells both: how much was asked for, how much the card
had free, and how much the process held without using it. Where all of that together would have
been enough, no single piece of it was: the memory is fragmented, and not short.
Source: PyTorch, c10/cuda/CUDACachingAllocator.cpp, in the form since 2.1 and in the one before.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

_UNITS = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_SIZE = r"([\d.]+) (bytes|KiB|MiB|GiB)"
_REFUSED = re.compile(
    r"\bOutOfMemoryError\b|\b(?:CUDA|XPU|NPU|HIP) out of memory|\bstd::bad_alloc\b"
)
_ASKED = re.compile(rf"Tried to allocate {_SIZE}")
_FREE = re.compile(rf"of which {_SIZE} is free|{_SIZE} free;")
_HELD = re.compile(rf"{_SIZE} is reserved by \w+ but unallocated")
# The older form tells what is used, and what is held in total.
_USED, _RESERVED = re.compile(rf"{_SIZE} already allocated"), re.compile(rf"{_SIZE} reserved in")


class Cause(StrEnum):
    """Why an allocation was refused."""

    SHORTAGE = "plain shortage"
    FRAGMENTED = "fragmentation"
    UNTOLD = "a cause that is not told"


@dataclass(frozen=True, slots=True)
class Refusal:
    """One refused allocation, in bytes; None is not told.

    free: on the card. held: by the process and used by nothing.
    """

    asked: float | None
    free: float | None
    held: float | None

    @property
    def cause(self) -> Cause:
        """What the figures say: enough in total and yet refused is fragmentation."""
        if self.asked is None or self.free is None or self.held is None:
            return Cause.UNTOLD
        return Cause.FRAGMENTED if self.free + self.held >= self.asked else Cause.SHORTAGE


def refusal_in(line: str) -> Refusal | None:
    """Return the refused allocation that a line of a log tells of, or None."""
    if not _REFUSED.search(line):
        return None
    held, used, reserved = (_bytes(pattern, line) for pattern in (_HELD, _USED, _RESERVED))
    if held is None and used is not None and reserved is not None:
        held = max(reserved - used, 0.0)
    return Refusal(_bytes(_ASKED, line), _bytes(_FREE, line), held)


def _bytes(pattern: re.Pattern[str], line: str) -> float | None:
    found = pattern.search(line)
    if found is None:
        return None
    number, unit = (group for group in found.groups() if group is not None)
    return float(number) * _UNITS[unit]
