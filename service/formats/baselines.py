"""Baselines: the stack a cell is held to, pinned by a person, with who, when and why."""

from uuid import UUID

from pydantic import AwareDatetime, Field, NonNegativeInt

from service.domain.baseline import MoveKind
from service.formats.identities import Key, Name, StackAsked
from service.formats.messages import Message


class BaselinePin(Message):
    """What to pin: a stack, by key, first digits or name, for the cells it was measured in.

    session_id: only the cells measured in that session. condition_keys: only these conditions.
    why: kept beside the pin. release: the release that it is pinned for, in words.
    who: a person's name; a token's name is kept where there is one.
    """

    channel: Name = "main"
    stack_key: StackAsked
    session_id: UUID | None = None
    condition_keys: tuple[Key, ...] = Field(default=(), max_length=2000)
    why: str = Field(min_length=1, max_length=1000)
    release: str | None = Field(default=None, min_length=1, max_length=128)
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


class MovedCell(Message):
    """A cell of a move: the stacks it was and is held to; null for none."""

    condition_key: Key
    protocol_key: Key
    title: str
    from_stack_key: Key | None
    from_stack_name: str | None
    to_stack_key: Key | None
    to_stack_name: str | None


class MoveRead(Message):
    """One act on the baselines of a channel: who, when, why, and each cell's from and to.

    kind: pin by a person, release, policy (a channel's rule), accept (of an incident) or undo.
    undoes: the move that it took back; undone_by: the one that took it back.
    """

    id: UUID
    channel: str
    kind: MoveKind
    made_at: AwareDatetime
    made_by: str
    why: str
    release: str | None
    incident_id: UUID | None
    rule_id: UUID | None
    undoes: UUID | None
    undone_by: UUID | None
    cells: tuple[MovedCell, ...]


class MovePage(Message):
    """Moves, the newest first; cursor asks for those before them."""

    moves: tuple[MoveRead, ...]
    cursor: str | None


class UndoOrder(Message):
    """Why a move is taken back, and by whom where the service asks for no token."""

    why: str = Field(min_length=1, max_length=1000)
    who: str | None = Field(default=None, min_length=1, max_length=128)


class RuleOrder(Message):
    """A channel's rule: the first accepted run of stacks so named becomes a cell's baseline.

    stacks: a pattern of names, as a shell's: `p800-*`.
    """

    channel: Name
    stacks: str = Field(pattern=r"^[A-Za-z0-9*?\[\]!._+=-]{1,128}$")
    why: str = Field(min_length=1, max_length=1000)
    who: str | None = Field(default=None, min_length=1, max_length=128)


class RuleRead(Message):
    """A rule and how many cells it pinned. ended_at: null while it is in force."""

    id: UUID
    channel: str
    stacks: str
    why: str
    made_by: str
    made_at: AwareDatetime
    ended_at: AwareDatetime | None
    pins: NonNegativeInt
