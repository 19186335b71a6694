"""Queries that keep, change and return qualifications."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import insert, select, update

from service.domain.qualification import Step
from service.store.database import ReadSession, WriteSession
from service.store.tables import QualificationRow

# Steps at which not both phases of a change are measured.
UNMEASURED = tuple(
    step.value for step in (Step.MEASURE, Step.MEASURE_BEFORE, Step.CHANGE, Step.MEASURE_AFTER)
)


@dataclass(frozen=True, slots=True)
class Qualification:
    """A qualification as it lies in the database."""

    id: UUID
    from_stack_key: str
    to_stack_key: str
    state: str
    content: Mapping[str, Any]
    created_at: datetime
    created_by: str
    changed_at: datetime


class UnknownQualificationError(LookupError):
    """No qualification has that id."""

    def __init__(self, qualification_id: UUID) -> None:
        super().__init__(f"no qualification {qualification_id}")


def keep(session: WriteSession, new: Qualification) -> None:
    """Store a new qualification."""
    row = {name: getattr(new, name) for name in Qualification.__dataclass_fields__}
    session.execute(insert(QualificationRow).values(**{**row, "content": dict(new.content)}))


def change(
    session: WriteSession,
    qualification_id: UUID,
    content: Mapping[str, Any],
    *,
    state: str,
    now: datetime,
) -> None:
    """Store how far a qualification is."""
    session.execute(
        update(QualificationRow)
        .where(QualificationRow.id == qualification_id)
        .values(content=dict(content), state=state, changed_at=now)
        .execution_options(synchronize_session=False)
    )


def read(session: ReadSession, qualification_id: UUID, *, lock: bool = False) -> Qualification:
    """Return one qualification. Raises UnknownQualificationError."""
    query = select(QualificationRow).where(QualificationRow.id == qualification_id)
    row = session.scalar(query.with_for_update() if lock else query)
    if row is None:
        raise UnknownQualificationError(qualification_id)
    return _stored(row)


def measured(session: ReadSession, from_stack_key: str, to_stack_key: str) -> UUID | None:
    """Return the newest qualification of a change that was measured before and after, or None."""
    query = select(QualificationRow.id).where(
        QualificationRow.from_stack_key == from_stack_key,
        QualificationRow.to_stack_key == to_stack_key,
        QualificationRow.state.not_in(UNMEASURED),
    )
    return session.scalar(query.order_by(QualificationRow.created_at.desc()).limit(1))


def newest(session: ReadSession, *, limit: int) -> Sequence[Qualification]:
    """Return qualifications, newest first."""
    query = select(QualificationRow).order_by(
        QualificationRow.created_at.desc(), QualificationRow.id
    )
    return [_stored(row) for row in session.scalars(query.limit(limit))]


def _stored(row: QualificationRow) -> Qualification:
    return Qualification(
        **{name: getattr(row, name) for name in Qualification.__dataclass_fields__}
    )
