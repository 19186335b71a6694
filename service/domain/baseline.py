"""The baseline: the stack that a cell of a channel is held to, and every move of it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from fnmatch import fnmatchcase
from uuid import UUID

from service.domain.cell import Cell

# Stands in the name of a stack that somebody put together from others.
MIXED = "+"


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


class MoveKind(StrEnum):
    """What moved a baseline: a person, a release, a rule, an accepted incident, or taking back."""

    PIN = "pin"
    RELEASE = "release"
    POLICY = "policy"
    ACCEPT = "accept"
    UNDO = "undo"


@dataclass(frozen=True, slots=True)
class Move:
    """One act on the baselines of a channel.

    release: the one it was pinned for. incident_id: the one that was accepted. rule_id: the rule
    that pinned. undoes: the move that was taken back. Each is None where it was something else.
    """

    id: UUID
    channel: str
    kind: MoveKind
    made_at: datetime
    made_by: str
    why: str
    release: str | None = None
    incident_id: UUID | None = None
    rule_id: UUID | None = None
    undoes: UUID | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """A channel's rule: the first accepted run of stacks so named becomes a cell's baseline.

    stacks: a pattern of names, as a shell's: p800-*. A cell that was ever pinned in the channel,
    by whomever, is left alone: a rule gives a first baseline and never rolls one.
    """

    id: UUID
    channel: str
    stacks: str
    why: str
    made_by: str
    made_at: datetime
    ended_at: datetime | None = None

    @property
    def actor(self) -> str:
        """Who a pin by this rule is said to be of."""
        return f"policy: first accepted run of {self.channel}"

    @property
    def reason(self) -> str:
        """Why a pin by this rule is there."""
        return f"the first accepted run of {self.stacks}, by the rule of {self.made_by}: {self.why}"

    def covers(self, stack_name: str) -> bool:
        """Return whether a stack is one of those it speaks of.

        A stack put together to try something has a + in its name, and is meant only where the
        pattern has one as well.
        """
        is_tried = MIXED in stack_name and MIXED not in self.stacks
        return fnmatchcase(stack_name, self.stacks) and not is_tried


@dataclass(frozen=True, slots=True)
class Measured:
    """What a stack measured in a cell, before it has a baseline: how often, and since when."""

    cell: Cell
    stack_key: str
    first_at: datetime
    repeats: int


def first_accepted(found: Iterable[Measured], *, min_repeats: int) -> dict[Cell, str]:
    """Return the stack whose first run in each cell came first, by key.

    found: of runs that may be judged, in cells that no incident holds. A run is accepted with as
    many repeats as a baseline needs: fewer would be a baseline that nothing can be judged by.
    """
    firsts: dict[Cell, str] = {}
    enough = (each for each in found if each.repeats >= min_repeats)
    for each in sorted(enough, key=lambda each: (each.first_at, each.stack_key)):
        firsts.setdefault(each.cell, each.stack_key)
    return firsts
