"""Queries that keep, move and return sessions."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import exists, insert, select, update

from service.domain.job import ENDED
from service.store.database import ReadSession, WriteSession
from service.store.tables import JobRow, SessionRow

OPEN = ("queued", "running")


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A session as it lies in the database. content: what was asked for, without its launches."""

    id: UUID
    plan: str
    pool: str
    chip: str
    state: str
    host: str | None
    baseline_stack_key: str | None
    content: Mapping[str, Any]
    created_at: datetime
    finished_at: datetime | None


class UnknownSessionError(LookupError):
    """No session has that id."""

    def __init__(self, session_id: UUID) -> None:
        super().__init__(f"no session {session_id}")


def keep(session: WriteSession, new: StoredSession) -> None:
    """Store a new session."""
    session.execute(
        insert(SessionRow).values(
            id=new.id,
            plan=new.plan,
            pool=new.pool,
            chip=new.chip,
            state=new.state,
            host=new.host,
            baseline_stack_key=new.baseline_stack_key,
            content=dict(new.content),
            created_at=new.created_at,
            finished_at=new.finished_at,
        )
    )


def read(session: ReadSession, session_id: UUID) -> StoredSession:
    """Return one session. Raises UnknownSessionError."""
    row = session.get(SessionRow, session_id, populate_existing=True)
    if row is None:
        raise UnknownSessionError(session_id)
    return _stored(row)


def by_id(session: ReadSession, ids: Collection[UUID]) -> Mapping[UUID, StoredSession]:
    """Return the sessions among some ids."""
    rows = session.scalars(select(SessionRow).where(SessionRow.id.in_(ids)))
    return {row.id: _stored(row) for row in rows}


def hosts(session: ReadSession, ids: Collection[UUID]) -> Mapping[UUID, str | None]:
    """Return the host that each of some sessions is bound to, or None."""
    rows = session.execute(select(SessionRow.id, SessionRow.host).where(SessionRow.id.in_(ids)))
    return {row.id: row.host for row in rows}


def newest(session: ReadSession, *, limit: int = 20) -> Sequence[StoredSession]:
    """Return sessions, newest first."""
    rows = session.scalars(
        select(SessionRow).order_by(SessionRow.created_at.desc(), SessionRow.id.desc()).limit(limit)
    )
    return [_stored(row) for row in rows]


def finished(session: ReadSession) -> Sequence[UUID]:
    """Return the ids of all finished sessions, the first to finish first."""
    query = (
        select(SessionRow.id)
        .where(SessionRow.state == "finished")
        .order_by(SessionRow.finished_at, SessionRow.id)
    )
    return session.scalars(query).all()


def start(session: WriteSession, session_id: UUID, *, host: str) -> None:
    """Bind a session to the host that claimed its first job."""
    session.execute(
        update(SessionRow)
        .where(SessionRow.id == session_id, SessionRow.state.in_(OPEN))
        .values(state="running", host=host)
    )


def cancel(session: WriteSession, session_id: UUID, *, now: datetime) -> None:
    """Mark a session that is not over as cancelled."""
    session.execute(
        update(SessionRow)
        .where(SessionRow.id == session_id, SessionRow.state.in_(OPEN))
        .values(state="cancelled", finished_at=now)
    )


def finish_if_done(session: WriteSession, session_id: UUID, *, now: datetime) -> bool:
    """Mark a session as finished, and return True, when none of its jobs has anything left to do.

    A session that was over before is left alone, and the answer is False.
    """
    unfinished = exists().where(JobRow.session_id == session_id, JobRow.state.not_in(ENDED))
    ended = session.execute(
        update(SessionRow)
        .where(SessionRow.id == session_id, SessionRow.state.in_(OPEN), ~unfinished)
        .values(state="finished", finished_at=now)
        .returning(SessionRow.id)
    )
    return ended.first() is not None


def _stored(row: SessionRow) -> StoredSession:
    return StoredSession(
        id=row.id,
        plan=row.plan,
        pool=row.pool,
        chip=row.chip,
        state=row.state,
        host=row.host,
        baseline_stack_key=row.baseline_stack_key,
        content=row.content,
        created_at=row.created_at,
        finished_at=row.finished_at,
    )
