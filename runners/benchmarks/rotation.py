"""The order in which the repeats of several cells are measured."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Turn:
    """One repeat of one cell; both are counted from 0."""

    cell: int
    repeat: int


def rotated(repeats: Sequence[int]) -> tuple[Turn, ...]:
    """Return every repeat of every cell once: repeat 0 of all cells, then repeat 1, and so on.

    Each round begins one cell later than the one before, so that no cell is always measured first
    or always right after the same neighbour, and a slow drift of the host falls on all of them.
    repeats: how many repeats each cell has.
    """
    count = len(repeats)
    return tuple(
        Turn(cell, repeat)
        for repeat in range(max(repeats, default=0))
        for cell in ((repeat + position) % count for position in range(count))
        if repeat < repeats[cell]
    )
