"""Store what a runner reports of a launch."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from service.domain.difference import Difference
from service.domain.job import require_token
from service.domain.stack import drift
from service.formats.reports import LaunchReport
from service.store import artefacts, jobs, launches, stacks
from service.store.artefacts import Files
from service.store.database import WriteSession
from service.store.jobs import StoredJob
from service.store.launches import StoredLaunch
from service.usecases.keep_artefact import checked, held


def report_launch(
    session: WriteSession, report: LaunchReport, *, files: Files, now: datetime
) -> None:
    """Store a launch, in place of an earlier report of it, with its drift from the stack.

    Raises UnknownJobError, StaleTokenError for a launch that is new and too late, and whatever
    service.usecases.keep_artefact.checked raises.
    """
    contents = checked(report.artefacts)
    job = jobs.locked(session, report.job_id)
    # What is already stored may be completed by whoever ran it, even after the job went on.
    if not launches.is_of_job(session, report.launch_id, report.job_id):
        require_token(given=report.fencing_token, current=job.fencing_token)
    launches.keep(session, _stored(report, job, _drift(session, report, job)))
    artefacts.keep(session, files, contents, now=now)
    artefacts.hold(session, report.launch_id, held(report.artefacts))
    if report.broken is not None and report.fencing_token == job.fencing_token:
        jobs.say_broken(session, job.id, report.broken.model_dump(mode="json"))


def _drift(session: WriteSession, report: LaunchReport, job: StoredJob) -> tuple[Difference, ...]:
    declared = stacks.by_key(session, [job.stack_key])[job.stack_key].stack
    return drift(declared, report.observed)


def _stored(report: LaunchReport, job: StoredJob, found: tuple[Difference, ...]) -> StoredLaunch:
    return StoredLaunch(
        id=report.launch_id,
        job_id=report.job_id,
        stack_key=job.stack_key,
        host=report.host,
        started_at=report.started_at,
        stopped_at=report.stopped_at,
        start_up_s=report.start_up_s,
        observed=report.observed,
        drift=[_document(difference) for difference in found],
        resolution=report.resolution,
        preflight=[finding.model_dump(mode="json") for finding in report.preflight],
        answer=list(report.answer),
        loaded_answer=report.loaded_answer.model_dump() if report.loaded_answer else None,
        broken=None if report.broken is None else report.broken.model_dump(mode="json"),
    )


def _document(difference: Difference) -> Mapping[str, Any]:
    return {
        "field": difference.field,
        "baseline": difference.baseline,
        "candidate": difference.candidate,
    }
