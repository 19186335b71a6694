"""The table of schedules."""

from datetime import date, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from service.store.columns import Table


class ScheduleRow(Table):
    """A session that is queued every night. night: the newest that was begun, by its date there."""

    __tablename__ = "schedule"

    name: Mapped[str] = mapped_column(primary_key=True)
    at: Mapped[str]
    zone: Mapped[str]
    duplicates: Mapped[int]
    content: Mapped[dict[str, Any]]
    paused: Mapped[bool]
    since: Mapped[datetime]
    why: Mapped[str]
    changed_by: Mapped[str]
    changed_at: Mapped[datetime]
    night: Mapped[date | None]
    session_id: Mapped[UUID | None] = mapped_column(ForeignKey("session.id"))
