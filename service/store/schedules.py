"""Queries that keep and return schedules."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import date, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import delete, select, update

from service.store.database import ReadSession, WriteSession
from service.store.inserts import took
from service.store.tables import ScheduleRow

SCHEDULES_MAX = 500


class UnknownScheduleError(LookupError):
    """No schedule has that name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no schedule {name}: `kunline schedule list` shows those there are")


@dataclass(frozen=True, slots=True)
class StoredSchedule:
    """A schedule as it is stored; content is the session it queues, as it was ordered."""

    name: str
    at: str
    zone: str
    duplicates: int
    content: dict[str, Any]
    paused: bool
    since: datetime
    why: str
    changed_by: str
    changed_at: datetime
    night: date | None = None
    session_id: UUID | None = None


NAMES = tuple(field.name for field in fields(StoredSchedule))


def keep(session: WriteSession, schedule: StoredSchedule) -> None:
    """Store a schedule, in place of the one of its name."""
    row = {name: getattr(schedule, name) for name in NAMES}
    if not took(session, ScheduleRow, row):
        session.execute(
            update(ScheduleRow)
            .where(ScheduleRow.name == schedule.name)
            .values(row)
            .execution_options(synchronize_session=False)
        )


def remove(session: WriteSession, name: str) -> None:
    """Take a schedule away; the audit has what it was, and its sessions stay."""
    session.execute(
        delete(ScheduleRow)
        .where(ScheduleRow.name == name)
        .execution_options(synchronize_session=False)
    )


def find(session: ReadSession, name: str) -> StoredSchedule | None:
    """Return the schedule of a name, or None."""
    return next(iter(_some(session, select(ScheduleRow).where(ScheduleRow.name == name))), None)


def read(session: ReadSession, name: str) -> StoredSchedule:
    """Return the schedule of a name. Raises UnknownScheduleError."""
    found = find(session, name)
    if found is None:
        raise UnknownScheduleError(name)
    return found


def all_of_them(session: ReadSession) -> Sequence[StoredSchedule]:
    """Return every schedule, by name."""
    return _some(session, select(ScheduleRow).order_by(ScheduleRow.name).limit(SCHEDULES_MAX))


def _some(session: ReadSession, query: Any) -> Sequence[StoredSchedule]:
    rows = session.scalars(query.execution_options(populate_existing=True))
    return [StoredSchedule(**{name: getattr(row, name) for name in NAMES}) for row in rows]
