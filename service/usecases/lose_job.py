"""Lose a job whose runner went quiet: back to its queue, or to its end."""

from dataclasses import replace
from datetime import datetime

from service.domain.job import JobState, Leasing, after_loss, require_transition
from service.store import jobs, sessions
from service.store.database import WriteSession
from service.store.jobs import StoredJob
from service.usecases.end_attempt import end_attempt
from service.usecases.end_session import end_session


def lose_job(
    session: WriteSession,
    job: StoredJob,
    *,
    leasing: Leasing,
    now: datetime,
    counted: bool = True,
) -> JobState:
    """Return where a locked, claimed job goes once its runner is lost.

    What was reported stays: a job with all its cells is reported, any other is queued again
    while it has attempts left. A job of a cancelled session is cancelled.
    counted: whether this try is one of its attempts; one that a person cut short is not.
    """
    attempt = job.attempt if counted else job.attempt - 1
    if sessions.read(session, job.session_id).state == "cancelled":
        state = JobState.CANCELLED
    else:
        require_transition(job.state, JobState.LOST)
        state = _after(session, replace(job, attempt=attempt), leasing)
    end_attempt(session, job, at=min(job.lease_until or now, now))
    jobs.end_lease(session, job.id, state, attempt=attempt, now=now)
    end_session(session, job.session_id, now=now)
    return state


def _after(session: WriteSession, job: StoredJob, leasing: Leasing) -> JobState:
    if jobs.cells_reported(session, job.id) >= job.cells:
        return JobState.REPORTED
    return after_loss(attempt=job.attempt, attempts_max=leasing.attempts_max)
