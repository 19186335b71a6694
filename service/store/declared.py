"""Queries that keep and return declared constraints; one that is taken back stays as history."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import func, insert, select, update

from service.store.database import ReadSession, WriteSession
from service.store.tables import DeclaredRow

# As many constraints as are in force at most.
DECLARED_MAX = 1000


@dataclass(frozen=True, slots=True)
class Declared:
    """A constraint as somebody declared it. content: as a constraint section."""

    id: UUID
    name: str
    content: Mapping[str, Any]
    declared_at: datetime
    declared_by: str


def hold(session: WriteSession) -> None:
    """Let nobody else declare until this session ends."""
    if session.get_bind().dialect.name == "postgresql":
        number = func.hashtextextended("kunline declared", 0)
        session.execute(select(func.pg_advisory_xact_lock(number)))


def in_force(session: ReadSession) -> Sequence[Declared]:
    """Return the constraints in force, by name."""
    query = select(DeclaredRow).where(DeclaredRow.ended_at.is_(None)).order_by(DeclaredRow.name)
    return [
        Declared(row.id, row.name, row.content, row.declared_at, row.declared_by)
        for row in session.scalars(query.limit(DECLARED_MAX))
    ]


def keep(
    session: WriteSession, name: str, content: Mapping[str, Any], *, who: str, now: datetime
) -> Declared:
    """Store a constraint."""
    new = Declared(uuid4(), name, content, now, who)
    session.execute(
        insert(DeclaredRow).values(
            id=new.id,
            name=name,
            content=dict(content),
            declared_at=now,
            declared_by=who,
            ended_at=None,
        )
    )
    return new


def end(session: WriteSession, declared_id: UUID, *, now: datetime) -> None:
    """Take a constraint back."""
    session.execute(
        update(DeclaredRow)
        .where(DeclaredRow.id == declared_id)
        .values(ended_at=now)
        .execution_options(synchronize_session=False)
    )
