"""Queries of the overview: what there is, pool by pool and channel by channel, in a few rows."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import func, select

from service.store.database import ReadSession
from service.store.tables import (
    BaselineRow,
    ConditionRow,
    JobRow,
    RunRow,
    SessionRow,
    StackRow,
    Table,
    WithdrawalRow,
)


@dataclass(frozen=True, slots=True)
class JobCount:
    """How many jobs of a session measure a stack and are in a state."""

    session_id: UUID
    stack_key: str
    state: str
    jobs: int


@dataclass(frozen=True, slots=True)
class EndedSession:
    """A session that is over, as far as it takes to see that what was said of it still holds."""

    id: UUID
    finished_at: datetime
    baseline_stack_key: str | None


@dataclass(frozen=True, slots=True)
class ChannelPins:
    """A channel, how many pins are in force there, and when the newest was pinned."""

    channel: str
    pins: int
    pinned_at: datetime


def totals(session: ReadSession) -> Mapping[str, int]:
    """Return how many sessions, stacks and conditions there are."""
    return {
        "sessions": _count(session, SessionRow),
        "stacks": _count(session, StackRow),
        "conditions": _count(session, ConditionRow),
    }


def job_counts(session: ReadSession, session_ids: Collection[UUID]) -> Sequence[JobCount]:
    """Return how many jobs of some sessions there are, by stack in their order, and by state."""
    rows = session.execute(
        select(JobRow.session_id, JobRow.stack_key, JobRow.state, func.count())
        .where(JobRow.session_id.in_(session_ids))
        .group_by(JobRow.session_id, JobRow.stack_key, JobRow.state)
        .order_by(func.min(JobRow.ordinal))
    )
    return [JobCount(*row) for row in rows]


def cells(session: ReadSession, session_ids: Collection[UUID]) -> Mapping[UUID, int]:
    """Return how many cells the largest launch of each of some sessions measures."""
    if not session_ids:
        return {}
    rows = session.execute(
        select(JobRow.session_id, func.max(JobRow.cells))
        .where(JobRow.session_id.in_(session_ids))
        .group_by(JobRow.session_id)
    )
    return {**dict.fromkeys(session_ids, 0), **{row[0]: row[1] for row in rows}}


def jobs_by_pool(session: ReadSession, states: Collection[str]) -> Mapping[tuple[str, str], int]:
    """Return how many jobs each pool has in some states, by pool and state."""
    rows = session.execute(
        select(JobRow.pool, JobRow.state, func.count())
        .where(JobRow.state.in_(states))
        .group_by(JobRow.pool, JobRow.state)
    )
    return {(pool, state): jobs for pool, state, jobs in rows}


def newest_runs(session: ReadSession) -> Mapping[str, datetime]:
    """Return when the last run of each pool's newest session that has one arrived."""
    newest = (
        select(SessionRow.pool, func.max(SessionRow.created_at).label("created_at"))
        .where(SessionRow.state != "queued")
        .group_by(SessionRow.pool)
        .subquery()
    )
    rows = session.execute(
        select(SessionRow.pool, func.max(RunRow.stored_at))
        .join(newest, newest.c.pool == SessionRow.pool)
        .where(SessionRow.created_at == newest.c.created_at)
        .join(RunRow, RunRow.session_id == SessionRow.id)
        .group_by(SessionRow.pool)
    )
    return {row[0]: row[1] for row in rows}


def newest_run(session: ReadSession) -> datetime | None:
    """Return when the last run arrived; None where there is none."""
    return session.scalar(select(RunRow.stored_at).order_by(RunRow.stored_at.desc()).limit(1))


def ended_within(session: ReadSession, span: timedelta, *, limit: int) -> Sequence[EndedSession]:
    """Return the sessions that ended within a span before the newest that did, newest first."""
    last = session.scalar(select(func.max(SessionRow.finished_at)))
    if last is None:
        return []
    columns = SessionRow.id, SessionRow.finished_at, SessionRow.baseline_stack_key
    rows = session.execute(
        select(*columns)
        .where(SessionRow.finished_at > last - span)
        .order_by(SessionRow.finished_at.desc(), SessionRow.id)
        .limit(limit)
    )
    return [
        EndedSession(row.id, row.finished_at, row.baseline_stack_key)
        for row in rows
        if row.finished_at is not None
    ]


def withdrawals(
    session: ReadSession, session_ids: Collection[UUID]
) -> Mapping[UUID, tuple[int, datetime]]:
    """Return how many runs of some sessions are withdrawn, and when the last of them was."""
    rows = session.execute(
        select(RunRow.session_id, func.count(), func.max(WithdrawalRow.withdrawn_at))
        .join(RunRow, RunRow.id == WithdrawalRow.run_id)
        .where(RunRow.session_id.in_(session_ids))
        .group_by(RunRow.session_id)
    )
    return {session_id: (runs, at) for session_id, runs, at in rows if session_id is not None}


def channels(session: ReadSession) -> Sequence[ChannelPins]:
    """Return each channel with the pins in force, by name."""
    rows = session.execute(
        select(BaselineRow.channel, func.count(), func.max(BaselineRow.pinned_at))
        .where(BaselineRow.replaced_at.is_(None))
        .group_by(BaselineRow.channel)
        .order_by(BaselineRow.channel)
    )
    return [ChannelPins(*row) for row in rows]


def _count(session: ReadSession, table: type[Table]) -> int:
    return session.scalar(select(func.count()).select_from(table)) or 0
