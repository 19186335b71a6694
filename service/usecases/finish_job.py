"""Finish a job: every cell has a run, or its launch broke, or it goes back to the queue."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from service.domain.job import ENDED, JobState, Leasing, require_token
from service.formats.orders import CellOrder, Finish
from service.store import jobs, launches, runs
from service.store.database import WriteSession
from service.store.jobs import StoredJob
from service.store.launches import StoredLaunch
from service.store.runs import NewRun
from service.usecases.claim_job import missing_cells
from service.usecases.end_session import end_session
from service.usecases.lose_job import lose_job


def finish_job(
    session: WriteSession, job_id: UUID, done: Finish, *, leasing: Leasing, now: datetime
) -> JobState:
    """Return where a job stands once its runner is done with it.

    When its launch broke, each cell without a run gets a broken one. A job that is neither whole
    nor broken goes back to its queue: as lost, or as handed back by a runner that was told to
    end. Saying it twice changes nothing.
    Raises UnknownJobError and StaleTokenError.
    """
    job = jobs.locked(session, job_id)
    require_token(given=done.fencing_token, current=job.fencing_token)
    if job.state in ENDED:
        return job.state
    missing = missing_cells(session, job)
    launch = launches.newest_of_job(session, job_id)
    # The job says what broke since its newest claim; a launch may be of an earlier holder's.
    if missing and launch is not None and job.broken is not None:
        runs.keep_all(session, _broken(job, launch, job.broken, missing, now))
        missing = ()
    if missing and job.state is JobState.CLAIMED:
        counted = not done.handed_back
        return lose_job(session, job, leasing=leasing, now=now, counted=counted)
    if missing:
        return job.state
    jobs.move(session, job, JobState.REPORTED, now=now)
    end_session(session, job.session_id, now=now)
    return JobState.REPORTED


def _broken(
    job: StoredJob,
    launch: StoredLaunch,
    broken: Mapping[str, Any],
    missing: Iterable[CellOrder],
    now: datetime,
) -> list[NewRun]:
    return [
        NewRun(
            id=uuid5(job.id, f"broken {cell.condition_key} {cell.protocol_key}"),
            session_id=job.session_id,
            job_id=job.id,
            launch_id=launch.id,
            condition_key=cell.condition_key,
            protocol_key=cell.protocol_key,
            stack_key=job.stack_key,
            host=launch.host,
            state="broken",
            measured_at=launch.started_at,
            finished_at=max(launch.started_at, now),
            stored_at=now,
            seeds=[],
            overhead_s=[],
            findings=[],
            broken=broken,
        )
        for cell in missing
    ]
