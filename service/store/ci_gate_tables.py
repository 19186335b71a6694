"""The tables of gates in CI, and of the waivers that their answers respect."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from service.store.columns import Table


class GateRow(Table):
    """A candidate that is judged beside its base. content: its order, without the session's.

    stops: cells measured less often than planned, with the rounds they were judged after and why.
    """

    __tablename__ = "gate"
    __table_args__ = (Index(None, "asked_at", "id"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    session_id: Mapped[UUID] = mapped_column(ForeignKey("session.id"), unique=True)
    content: Mapped[dict[str, Any]]
    stops: Mapped[list[Any]]
    asked_by: Mapped[str]
    asked_at: Mapped[datetime]


class WaiverRow(Table):
    """A person's word that a worsening does not count in a gate, until when, and why."""

    __tablename__ = "waiver"
    __table_args__ = (Index(None, "plan", "until"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    plan: Mapped[str]
    condition_key: Mapped[str | None] = mapped_column(ForeignKey("condition.key"))
    metric: Mapped[str | None]
    stack_key: Mapped[str | None] = mapped_column(ForeignKey("stack.key"))
    until: Mapped[datetime]
    why: Mapped[str]
    who: Mapped[str]
    made_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]
