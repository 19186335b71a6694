"""The tables of incidents: what they list, and what people said of them."""

from datetime import date, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from service.store.columns import Table


class IncidentRow(Table):
    """Deviations with one cause. event_id is no foreign key: events are told anew."""

    __tablename__ = "incident"
    __table_args__ = (Index(None, "opened_at", "id"), Index(None, "merged_into"))

    id: Mapped[UUID] = mapped_column(primary_key=True)
    title: Mapped[str]
    direction: Mapped[str]
    baseline_stack_key: Mapped[str] = mapped_column(ForeignKey("stack.key"))
    candidate_stack_key: Mapped[str] = mapped_column(ForeignKey("stack.key"))
    opened_at: Mapped[datetime]
    opened_by: Mapped[str]
    seen_at: Mapped[datetime]
    host: Mapped[str | None]
    event_id: Mapped[UUID | None]
    triage: Mapped[str]
    owner: Mapped[str | None]
    due: Mapped[date | None]
    comment: Mapped[str]
    links: Mapped[list[Any]]
    triaged_at: Mapped[datetime | None]
    verified_at: Mapped[datetime | None]
    verified_stack_key: Mapped[str | None] = mapped_column(ForeignKey("stack.key"))
    merged_into: Mapped[UUID | None] = mapped_column(ForeignKey("incident.id"))


class IncidentCellRow(Table):
    """A metric of a cell that an incident lists, with the runs its numbers came from."""

    __tablename__ = "incident_cell"
    __table_args__ = (Index(None, "condition_key", "protocol_key"),)

    incident_id: Mapped[UUID] = mapped_column(ForeignKey("incident.id"), primary_key=True)
    condition_key: Mapped[str] = mapped_column(ForeignKey("condition.key"), primary_key=True)
    protocol_key: Mapped[str] = mapped_column(ForeignKey("protocol.key"), primary_key=True)
    metric: Mapped[str] = mapped_column(primary_key=True)
    change: Mapped[float]
    low: Mapped[float | None]
    high: Mapped[float | None]
    session_id: Mapped[UUID | None] = mapped_column(ForeignKey("session.id"))
    run_ids: Mapped[list[Any]]
