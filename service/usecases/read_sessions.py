"""Read sessions: their jobs in order, who holds each, how far it is."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from service.formats.orders import Progress
from service.formats.reports import Broken
from service.formats.sessions import JobRead, SessionRead
from service.store import jobs, sessions, stacks
from service.store.database import ReadSession
from service.store.jobs import ShownJob
from service.store.sessions import StoredSession


def read_session(session: ReadSession, session_id: UUID) -> SessionRead:
    """Return one session. Raises UnknownSessionError."""
    return _read_all(session, [sessions.read(session, session_id)])[0]


def list_sessions(session: ReadSession, *, limit: int) -> tuple[SessionRead, ...]:
    """Return the newest sessions, newest first."""
    return _read_all(session, sessions.newest(session, limit=limit))


def read_job(session: ReadSession, job_id: UUID) -> JobRead:
    """Return one job. Raises UnknownJobError."""
    job = jobs.read(session, job_id)
    names = stacks.names(session, [job.stack_key])
    return _job(job, jobs.cells_reported(session, job_id), names)


def _read_all(session: ReadSession, found: Sequence[StoredSession]) -> tuple[SessionRead, ...]:
    """Return sessions with their jobs, in as many queries for many as for one."""
    ids = [stored.id for stored in found]
    under = jobs.shown(session, ids)
    reported = jobs.cells_reported_in(session, ids)
    names = stacks.names(session, {job.stack_key for job in under})
    by_session: dict[UUID, list[JobRead]] = {session_id: [] for session_id in ids}
    for job in under:
        by_session[job.session_id].append(_job(job, reported.get(job.id, 0), names))
    return tuple(_read(stored, by_session[stored.id]) for stored in found)


def _read(stored: StoredSession, jobs_read: Sequence[JobRead]) -> SessionRead:
    return SessionRead.model_validate(
        {
            "id": stored.id,
            "plan": stored.plan,
            "pool": stored.pool,
            "state": stored.state,
            "host": stored.host,
            "created_at": stored.created_at,
            "finished_at": stored.finished_at,
            "baseline_stack_key": stored.baseline_stack_key,
            "jobs": tuple(jobs_read),
        }
    )


def _job(job: ShownJob, reported: int, names: Mapping[str, str]) -> JobRead:
    return JobRead(
        id=job.id,
        ordinal=job.ordinal,
        state=job.state.value,
        stack_key=job.stack_key,
        stack_name=names[job.stack_key],
        attempt=job.attempt,
        cells=job.cells,
        cells_reported=reported,
        repeats=job.repeats,
        runner=job.runner,
        host=job.host,
        progress=None if job.progress is None else Progress.model_validate(job.progress),
        broken=None if job.broken is None else Broken.model_validate(job.broken),
    )
