"""The table of confirms: suspicions that were measured again."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from service.store.columns import Table


class ConfirmRow(Table):
    """An event's cells measured again on both stacks. event_id is no foreign key: see IncidentRow.

    direction: what the screen suspected. session_id: of the launches; null where none were begun.
    reason: why it waits, or ended as it did. content: what is planned; looks: what each look said,
    oldest first. planned: the most that its session costs; launches, card_s: what it has cost.
    changed_at: when it was last looked after.
    """

    __tablename__ = "confirm"
    __table_args__ = (
        Index(None, "asked_at", "id"),
        Index(None, "event_id"),
        Index(None, "incident_id"),
        Index(None, "state"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    event_id: Mapped[UUID]
    host: Mapped[str]
    direction: Mapped[str]
    baseline_stack_key: Mapped[str] = mapped_column(ForeignKey("stack.key"))
    candidate_stack_key: Mapped[str] = mapped_column(ForeignKey("stack.key"))
    session_id: Mapped[UUID | None] = mapped_column(ForeignKey("session.id"), unique=True)
    incident_id: Mapped[UUID | None] = mapped_column(ForeignKey("incident.id"))
    state: Mapped[str]
    outcome: Mapped[str | None]
    ended_by: Mapped[str | None]
    reason: Mapped[str]
    content: Mapped[dict[str, Any]]
    looks: Mapped[list[Any]]
    planned_launches: Mapped[int]
    planned_card_s: Mapped[float]
    launches: Mapped[int]
    card_s: Mapped[float]
    asked_by: Mapped[str]
    asked_at: Mapped[datetime]
    why: Mapped[str]
    changed_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
