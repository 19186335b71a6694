"""The audit as it is read: who did what, when and why, and what it changed."""

from typing import Any, Self

from pydantic import AwareDatetime

from service.domain.audit import Act, Entry, Noun
from service.formats.messages import Message


class AuditRead(Message):
    """One act. before, after: what the thing was and became; null for nothing."""

    at: AwareDatetime
    actor: str
    act: Act
    noun: Noun
    noun_id: str
    reason: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None

    @classmethod
    def of(cls, entry: Entry) -> Self:
        """Return an act as it is read."""
        return cls(
            at=entry.at,
            actor=entry.actor,
            act=entry.act,
            noun=entry.noun,
            noun_id=entry.noun_id,
            reason=entry.reason,
            before=None if entry.before is None else dict(entry.before),
            after=None if entry.after is None else dict(entry.after),
        )
