"""Renew a lease: a runner's sign of life, and its answer."""

from datetime import datetime
from uuid import UUID

from service.domain.job import JobState, Leasing, require_token
from service.formats.orders import Renewal, Renewed
from service.store import card_leases, jobs, runners, sessions
from service.store.database import WriteSession
from service.store.jobs import StoredJob
from service.usecases.end_attempt import end_attempt


class LeaseLostError(PermissionError):
    """A job is not held by anybody any more, so nobody can renew its lease."""

    def __init__(self, job_id: UUID, state: JobState) -> None:
        super().__init__(f"the lease of job {job_id} was lost; it is {state} now")


def renew_lease(
    session: WriteSession, job_id: UUID, renewal: Renewal, *, leasing: Leasing, now: datetime
) -> Renewed:
    """Lengthen a job's lease, keep its progress, and say whether it was cancelled.

    Raises UnknownJobError, StaleTokenError when it was claimed again, and LeaseLostError.
    """
    job = _held(session, job_id, renewal.fencing_token, leasing, now)
    if job.state not in {JobState.CLAIMED, JobState.CANCELLED}:
        raise LeaseLostError(job_id, job.state)
    cancelled = job.state is JobState.CANCELLED
    if not cancelled and sessions.read(session, job.session_id).state == "cancelled":
        end_attempt(session, job, at=now)
        jobs.move(session, job, JobState.CANCELLED, now=now)
        cancelled = True
    if not cancelled:
        said = renewal.progress
        progress = None if said is None else said.model_dump(mode="json")
        jobs.renew(session, job_id, lease_until=leasing.until(now), progress=progress)
    return Renewed(cancelled=cancelled, lease_s=leasing.lease.total_seconds())


def _held(
    session: WriteSession, job_id: UUID, fencing_token: int, leasing: Leasing, now: datetime
) -> StoredJob:
    """Return a job, locked, and note that its runner was heard of, which keeps its cards its own.

    The runner's row comes before the job's, as in a claim, so that the two never wait in a ring;
    the token is looked at again because the job may have been claimed in between.
    """
    seen = jobs.read(session, job_id)
    require_token(given=fencing_token, current=seen.fencing_token)
    if seen.runner is not None:
        runners.touch(session, seen.runner, now=now)
        card_leases.lengthen(session, seen.runner, until=leasing.until(now))
    job = jobs.locked(session, job_id)
    require_token(given=fencing_token, current=job.fencing_token)
    return job
