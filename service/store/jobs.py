"""Queries that queue, hand out, move and return jobs."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    ScalarSelect,
    Select,
    bindparam,
    exists,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.orm import aliased

from service.domain.cell import Cell
from service.domain.condition import Occupancy
from service.domain.job import ENDED, Capacity, JobState, require_transition
from service.store.database import ReadSession, WriteSession
from service.store.inserts import core
from service.store.sessions import OPEN
from service.store.tables import JobRow, RunRow, SessionRow


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job about to be queued. launch: its order, as it travels."""

    id: UUID
    session_id: UUID
    ordinal: int
    pool: str
    chip: str
    cards: int
    occupancy: str
    stack_key: str
    launch: dict[str, Any]
    cells: int
    repeats: int


@dataclass(frozen=True, slots=True)
class ShownJob:
    """A job as people see it: all but its order, which is by far the largest part."""

    id: UUID
    session_id: UUID
    ordinal: int
    state: JobState
    stack_key: str
    cells: int
    repeats: int
    attempt: int
    runner: str | None
    host: str | None
    progress: Mapping[str, Any] | None
    broken: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class StoredJob(ShownJob):
    """A job as it lies in the database, with whoever holds or last held it."""

    pool: str
    occupancy: str
    launch: Mapping[str, Any]
    fencing_token: int
    incarnation: str | None
    lease_until: datetime | None
    announced_at: datetime


SHOWN = tuple(core(JobRow).c[field.name] for field in fields(ShownJob))
STORED = tuple(core(JobRow).c[field.name] for field in fields(StoredJob))


@dataclass(frozen=True, slots=True)
class Holder:
    """What a report is held to: whose job it is of, and which cells that job has."""

    session_id: UUID
    stack_key: str
    host: str | None
    fencing_token: int
    cells: frozenset[Cell]


# Built once: every report that is stored table by table asks it.
HOLDER = select(
    core(JobRow).c.session_id,
    core(JobRow).c.stack_key,
    core(JobRow).c.host,
    core(JobRow).c.fencing_token,
    core(JobRow).c.launch["cells"].label("cells"),
).where(core(JobRow).c.id == bindparam("job_id"))


class UnknownJobError(LookupError):
    """No job has that id."""

    def __init__(self, job_id: UUID) -> None:
        super().__init__(f"no job {job_id}")


def queue(session: WriteSession, jobs: Sequence[NewJob], *, now: datetime) -> None:
    """Store new jobs, all of them queued."""
    fresh = {
        "state": JobState.QUEUED.value,
        "attempt": 0,
        "fencing_token": 0,
        "announced_at": now,
    }
    session.execute(insert(JobRow), [{**asdict(job), **fresh} for job in jobs])


def hold_host(session: WriteSession, host: str) -> None:
    """Let nobody else claim for a host until this session ends; SQLite lets one writer in anyway.

    Two runners of it that ask at once would else both see that its cards are nobody's.
    """
    if session.get_bind().dialect.name == "postgresql":
        number = func.hashtextextended(f"kunline host {host}", 0)
        session.execute(select(func.pg_advisory_xact_lock(number)))


def claim_next(
    session: WriteSession, capacity: Capacity, *, now: datetime, lease_until: datetime
) -> StoredJob | None:
    """Hand the oldest job that fits to a runner and return it, or None; in one statement.

    Each claim raises the fencing token, so whatever an earlier holder still sends is known. It is
    the last that runners are told of the job, and kept as that.
    """
    claimed = session.execute(
        update(JobRow)
        .where(JobRow.id == _next_job(capacity), JobRow.state == JobState.QUEUED.value)
        .values(
            state=JobState.CLAIMED.value,
            attempt=JobRow.attempt + 1,
            fencing_token=JobRow.fencing_token + 1,
            runner=capacity.runner,
            incarnation=capacity.incarnation,
            host=capacity.host,
            lease_until=lease_until,
            announced_at=now,
            progress=None,
            broken=None,
        )
        .returning(JobRow.id)
        .execution_options(synchronize_session=False)
    ).scalar_one_or_none()
    return None if claimed is None else read(session, claimed)


def holder(session: ReadSession, job_id: UUID) -> Holder:
    """Return whose a job is, and its cells. Raises UnknownJobError."""
    if (found := find_holder(session, job_id)) is None:
        raise UnknownJobError(job_id)
    return found


def find_holder(session: ReadSession, job_id: UUID) -> Holder | None:
    """Return whose a job is, and its cells; None where there is no such job."""
    row = session.connection().execute(HOLDER, {"job_id": job_id}).one_or_none()
    if row is None:
        return None
    cells = frozenset(Cell(cell["condition_key"], cell["protocol_key"]) for cell in row.cells)
    return Holder(row.session_id, row.stack_key, row.host, row.fencing_token, cells)


def read(session: ReadSession, job_id: UUID) -> StoredJob:
    """Return one job. Raises UnknownJobError."""
    return _one(session, _columns().where(JobRow.id == job_id), job_id)


def locked(session: WriteSession, job_id: UUID) -> StoredJob:
    """Return one job that nobody else moves until this session ends. Raises UnknownJobError."""
    return _one(session, _columns().where(JobRow.id == job_id).with_for_update(), job_id)


def of_session(session: ReadSession, session_id: UUID) -> Sequence[StoredJob]:
    """Return a session's jobs in their order."""
    return _all(session, _columns().where(JobRow.session_id == session_id).order_by(JobRow.ordinal))


def shown(session: ReadSession, session_ids: Collection[UUID]) -> Sequence[ShownJob]:
    """Return the jobs of some sessions, in the order of each."""
    query = select(*SHOWN).where(JobRow.session_id.in_(session_ids)).order_by(JobRow.ordinal)
    return [
        ShownJob(**{**row, "state": JobState(row["state"])})
        for row in session.execute(query).mappings()
    ]


def held_by(session: WriteSession, runner: str) -> Sequence[StoredJob]:
    """Return the jobs a runner holds, locked."""
    held = _columns().where(JobRow.runner == runner, JobRow.state == JobState.CLAIMED.value)
    return _all(session, held.order_by(JobRow.id).with_for_update())


def overdue(session: WriteSession, *, now: datetime, limit: int = 100) -> Sequence[StoredJob]:
    """Return claimed jobs whose lease has ended, locked; those being moved now are left out."""
    late = _columns().where(JobRow.state == JobState.CLAIMED.value, JobRow.lease_until < now)
    return _all(session, late.order_by(JobRow.id).limit(limit).with_for_update(skip_locked=True))


def hold_all(session: WriteSession, session_id: UUID) -> None:
    """Let nobody else move a session's jobs until this session ends."""
    held = select(JobRow.id).where(JobRow.session_id == session_id)
    session.execute(held.order_by(JobRow.id).with_for_update())


def cancel_queued(session: WriteSession, session_id: UUID, *, now: datetime) -> None:
    """Cancel what a session still has in the queue."""
    session.execute(
        update(JobRow)
        .where(JobRow.session_id == session_id, JobRow.state == JobState.QUEUED.value)
        .values(state=JobState.CANCELLED.value, finished_at=now)
        .execution_options(synchronize_session=False)
    )


def move(session: WriteSession, job: StoredJob, to: JobState, *, now: datetime) -> None:
    """Move a locked job to another state. Raises TransitionError."""
    require_transition(job.state, to)
    end_lease(session, job.id, to, attempt=job.attempt, now=now)


def end_lease(
    session: WriteSession, job_id: UUID, to: JobState, *, attempt: int, now: datetime
) -> None:
    """Set where a locked job goes once nobody holds it, and how many attempts count."""
    session.execute(
        update(JobRow)
        .where(JobRow.id == job_id)
        .values(
            state=to.value,
            attempt=attempt,
            lease_until=None,
            announced_at=now,
            finished_at=now if to in ENDED else None,
        )
        .execution_options(synchronize_session=False)
    )


def renew(
    session: WriteSession,
    job_id: UUID,
    *,
    lease_until: datetime,
    progress: Mapping[str, Any] | None,
) -> None:
    """Lengthen the lease of a locked job and keep how far it is, where that was said."""
    said = {} if progress is None else {"progress": dict(progress)}
    session.execute(
        update(JobRow)
        .where(JobRow.id == job_id)
        .values(lease_until=lease_until, **said)
        .execution_options(synchronize_session=False)
    )


def say_broken(session: WriteSession, job_id: UUID, broken: Mapping[str, Any]) -> None:
    """Keep the layer at which a job's launch broke."""
    session.execute(
        update(JobRow)
        .where(JobRow.id == job_id)
        .values(broken=dict(broken))
        .execution_options(synchronize_session=False)
    )


def announce_again(
    session: WriteSession, *, before: datetime, now: datetime, limit: int = 200
) -> Sequence[StoredJob]:
    """Return queued jobs that could be claimed and were last announced before a time; mark them."""
    jobs = _all(
        session,
        _columns()
        .join(SessionRow, SessionRow.id == JobRow.session_id)
        .where(
            JobRow.state == JobState.QUEUED.value,
            JobRow.announced_at < before,
            SessionRow.state.in_(OPEN),
            _is_next(),
        )
        .order_by(JobRow.announced_at)
        .limit(limit),
    )
    session.execute(
        update(JobRow)
        .where(JobRow.id.in_([job.id for job in jobs]))
        .values(announced_at=now)
        .execution_options(synchronize_session=False)
    )
    return jobs


def next_of(session: ReadSession, session_id: UUID) -> StoredJob | None:
    """Return the job of a session that may be claimed now, or None."""
    found = _all(
        session,
        _columns().where(
            JobRow.session_id == session_id, JobRow.state == JobState.QUEUED.value, _is_next()
        ),
    )
    return found[0] if found else None


def cells_reported(session: ReadSession, job_id: UUID) -> int:
    """Return how many cells of a job have a run."""
    query = select(func.count()).select_from(RunRow).where(RunRow.job_id == job_id)
    return session.scalar(query) or 0


def cells_reported_in(session: ReadSession, session_ids: Collection[UUID]) -> Mapping[UUID, int]:
    """Return how many cells of each job of some sessions have a run; none for a job without."""
    rows = session.execute(
        select(RunRow.job_id, func.count())
        .where(RunRow.session_id.in_(session_ids))
        .group_by(RunRow.job_id)
    )
    return {job_id: count for job_id, count in rows if job_id is not None}


def counts(session: ReadSession) -> Mapping[str, int]:
    """Return how many jobs are in each state."""
    rows = session.execute(select(JobRow.state, func.count()).group_by(JobRow.state))
    return {row[0]: row[1] for row in rows}


def _next_job(capacity: Capacity) -> ScalarSelect[UUID]:
    """Select the job a runner gets: the oldest session's lowest job, if it fits here."""
    return (
        select(JobRow.id)
        .join(SessionRow, SessionRow.id == JobRow.session_id)
        .where(
            JobRow.state == JobState.QUEUED.value,
            JobRow.pool == capacity.pool,
            JobRow.chip.in_(capacity.chips),
            JobRow.cards <= capacity.cards,
            SessionRow.state.in_(OPEN),
            SessionRow.host.is_(None) | (SessionRow.host == capacity.host),
            _is_next(),
            _has_room(capacity),
        )
        .order_by(SessionRow.created_at, SessionRow.id, JobRow.ordinal)
        .limit(1)
        .with_for_update(of=JobRow, skip_locked=True)
        .scalar_subquery()
    )


def _has_room(capacity: Capacity) -> ColumnElement[bool]:
    """Say that a job may run beside what other runners of the host do: packed ones alone may."""
    other = aliased(JobRow)
    solo = Occupancy.SOLO.value
    return ~exists().where(
        other.state == JobState.CLAIMED.value,
        other.host == capacity.host,
        other.runner != capacity.runner,
        (other.occupancy == solo) | (JobRow.occupancy == solo),
    )


def _is_next() -> ColumnElement[bool]:
    """Say that every earlier job of the same session has ended: one at a time, in order."""
    earlier = aliased(JobRow)
    return ~exists().where(
        earlier.session_id == JobRow.session_id,
        earlier.ordinal < JobRow.ordinal,
        earlier.state.not_in(ENDED),
    )


def _columns() -> Select[Any]:
    return select(*STORED)


def _one(session: ReadSession, query: Select[Any], job_id: UUID) -> StoredJob:
    found = _all(session, query)
    if not found:
        raise UnknownJobError(job_id)
    return found[0]


def _all(session: ReadSession, query: Select[Any]) -> Sequence[StoredJob]:
    return [
        StoredJob(**{**row, "state": JobState(row["state"])})
        for row in session.execute(query).mappings()
    ]
