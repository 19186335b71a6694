"""Announce jobs: say which queue hears of which job. A nudge may arrive twice, or never."""

from collections.abc import Iterable
from uuid import UUID

from service.formats.nudges import Nudge, host_queue, pool_queue
from service.store import jobs, sessions
from service.store.database import ReadSession
from service.store.jobs import StoredJob


def announce_next(session: ReadSession, session_id: UUID) -> tuple[Nudge, ...]:
    """Return the nudges for the job of a session that may be claimed now, if there is one."""
    job = jobs.next_of(session, session_id)
    return () if job is None else nudges(session, [job])


def announce_following(session: ReadSession, job_id: UUID) -> tuple[Nudge, ...]:
    """Return the nudges for whatever may be claimed now in a job's session."""
    return announce_next(session, jobs.read(session, job_id).session_id)


def nudges(session: ReadSession, waiting: Iterable[StoredJob]) -> tuple[Nudge, ...]:
    """Return one nudge a job: to its session's host where it has one, else to its pool."""
    by_id = {job.id: job for job in waiting}
    hosts = sessions.hosts(session, {job.session_id for job in by_id.values()})
    return tuple(Nudge(_queue(job, hosts[job.session_id]), job.id) for job in by_id.values())


def _queue(job: StoredJob, host: str | None) -> str:
    return pool_queue(job.pool) if host is None else host_queue(host)
