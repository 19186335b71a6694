"""Read sessions: their jobs in order, who holds each, how far it is."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from service.formats.orders import Progress
from service.formats.reports import Broken
from service.formats.sessions import JobRead, SessionRead
from service.store import jobs, sessions, stacks
from service.store.database import ReadSession
from service.store.jobs import StoredJob
from service.store.sessions import StoredSession


def read_session(session: ReadSession, session_id: UUID) -> SessionRead:
    """Return one session. Raises UnknownSessionError."""
    return _read(session, sessions.read(session, session_id))


def list_sessions(session: ReadSession, *, limit: int) -> tuple[SessionRead, ...]:
    """Return the newest sessions, newest first."""
    return tuple(_read(session, stored) for stored in sessions.newest(session, limit=limit))


def read_job(session: ReadSession, job_id: UUID) -> JobRead:
    """Return one job. Raises UnknownJobError."""
    return _jobs(session, [jobs.read(session, job_id)])[0]


def _read(session: ReadSession, stored: StoredSession) -> SessionRead:
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
            "jobs": _jobs(session, jobs.of_session(session, stored.id)),
        }
    )


def _jobs(session: ReadSession, stored: Sequence[StoredJob]) -> tuple[JobRead, ...]:
    reported = jobs.cells_reported(session, [job.id for job in stored])
    names = stacks.names(session, {job.stack_key for job in stored})
    return tuple(_job(job, reported.get(job.id, 0), names) for job in stored)


def _job(job: StoredJob, reported: int, names: Mapping[str, str]) -> JobRead:
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
