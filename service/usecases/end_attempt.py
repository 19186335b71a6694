"""End an attempt of a job that its runner will not tell the end of: its card time stays known."""

from datetime import datetime
from uuid import UUID

from service.domain.job import launch_id
from service.store import launches
from service.store.database import WriteSession
from service.store.jobs import StoredJob
from service.store.launches import StoredLaunch


def end_attempt(session: WriteSession, job: StoredJob, *, at: datetime) -> None:
    """End the launches of a locked, claimed job; where none was told of, keep that there was one.

    The runner held the cards from its claim on, whatever it did with them. Its launch keeps the id
    that the runner would have given it: what is still told of it takes the place of this.
    """
    launches.end_lost(session, job.id, at=at)
    if launches.count_of_job(session, job.id) < job.fencing_token:
        launches.keep(session, _unreported(job, launch_id(job.id, job.fencing_token), at))


def _unreported(job: StoredJob, fresh: UUID, at: datetime) -> StoredLaunch:
    return StoredLaunch(
        id=fresh,
        job_id=job.id,
        stack_key=job.stack_key,
        host=job.host or "",
        started_at=min(job.announced_at, at),
        stopped_at=at,
        start_up_s=None,
        observed={},
        drift=[],
        resolution={},
        preflight=[],
        answer=[],
        loaded_answer=None,
        broken=None,
    )
