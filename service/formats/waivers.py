"""Waivers: a person's word that a worsening does not count in a gate, until when, and why."""

from uuid import UUID

from pydantic import AwareDatetime, Field

from service.formats.identities import Key, Name, StackAsked
from service.formats.messages import Message


class WaiverOrder(Message):
    """What to waive: the cells of a plan, all or some, in one metric or in all.

    stack_key: only beside this base, by key, first digits or name. why: kept beside it. who: a
    person's name; a token's name is kept where there is one.
    """

    plan: Name
    condition_key: Key | None = None
    metric: str | None = Field(default=None, max_length=80)
    stack_key: StackAsked | None = None
    until: AwareDatetime
    why: str = Field(min_length=8, max_length=1000)
    who: str | None = Field(default=None, min_length=1, max_length=128)


class WaiverRevocation(Message):
    """Why a waiver is taken back before its time."""

    why: str = Field(min_length=1, max_length=1000)
    who: str | None = Field(default=None, min_length=1, max_length=128)


class WaiverRead(Message):
    """A waiver; title: of its condition; revoked_at: when it was taken back, before its time."""

    id: UUID
    plan: str
    condition_key: Key | None
    title: str | None
    metric: str | None
    stack_key: Key | None
    until: AwareDatetime
    why: str
    who: str
    made_at: AwareDatetime
    revoked_at: AwareDatetime | None
    in_force: bool
