"""The baseline: the stack that a cell of a channel is held to, pinned by a person."""

from dataclasses import dataclass
from datetime import datetime

from service.domain.cell import Cell


@dataclass(frozen=True, slots=True)
class Pin:
    """A stack pinned for a cell of a channel, by whom, when and why.

    replaced_at: when a later pin took its place; None while it is in force.
    """

    channel: str
    cell: Cell
    stack_key: str
    pinned_at: datetime
    pinned_by: str
    why: str
    replaced_at: datetime | None = None
