"""Baselines: the stack a cell is held to, pinned by a person, with who, when and why."""

from uuid import UUID

from pydantic import AwareDatetime, Field

from service.formats.identities import Key, Name, StackAsked
from service.formats.messages import Message


class BaselinePin(Message):
    """What to pin: a stack, by key, first digits or name, for the cells it was measured in.

    session_id: only the cells measured in that session. condition_keys: only these conditions.
    why: kept beside the pin. who: a person's name; a token's name is kept where there is one.
    """

    channel: Name = "main"
    stack_key: StackAsked
    session_id: UUID | None = None
    condition_keys: tuple[Key, ...] = Field(default=(), max_length=2000)
    why: str = Field(min_length=1, max_length=1000)
    who: str | None = Field(default=None, min_length=1, max_length=128)


class BaselineRead(Message):
    """One pin of a channel's cell; replaced_at is None for the one in force.

    runs: how many measured runs of the stack in the cell it stands on today, on any host;
    withdrawn_runs: how many more there were before people withdrew them.
    """

    id: UUID
    channel: str
    condition_key: Key
    protocol_key: Key
    title: str
    stack_key: Key
    stack_name: str
    pinned_at: AwareDatetime
    pinned_by: str
    why: str
    replaced_at: AwareDatetime | None
    runs: int = 0
    withdrawn_runs: int = 0
