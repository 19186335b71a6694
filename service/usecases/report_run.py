"""Store a run as its report tells it, once however often the report arrives."""

from datetime import datetime

from service.domain.cell import Cell
from service.domain.job import StaleTokenError, require_token
from service.formats.reports import RunReport, Stored
from service.store import artefacts, jobs, runs, samples
from service.store.artefacts import Files
from service.store.database import WriteSession
from service.store.jobs import Holder
from service.store.runs import NewRun
from service.usecases.keep_artefact import checked, held


class CellNotInJobError(ValueError):
    """A report names a cell that its job never asked for."""

    def __init__(self, report: RunReport) -> None:
        super().__init__(
            f"job {report.job_id} has no cell of condition {report.condition_key[:12]} "
            f"and protocol {report.protocol_key[:12]}"
        )


def report_run(session: WriteSession, report: RunReport, *, files: Files, now: datetime) -> Stored:
    """Store a run with its samples and artefacts, and say whether it was new.

    A run is new when neither its id nor its job's cell has one yet; the first to arrive stays.
    Raises UnknownJobError, StaleTokenError, CellNotInJobError, and whatever
    service.usecases.keep_artefact.checked raises.
    """
    contents = checked(report.artefacts)
    job = jobs.holder(session, report.job_id)
    try:
        require_token(given=report.fencing_token, current=job.fencing_token)
    except StaleTokenError:
        # Sent again after the job went on: what was stored in time is stored.
        if runs.is_stored(session, report.run_id):
            return Stored(run_id=report.run_id, stored=False)
        raise
    _require_cell(job, report)
    if not runs.keep(session, _new(report, job, now)):
        return Stored(run_id=report.run_id, stored=False)
    samples.keep(session, report.run_id, report.values)
    artefacts.keep(session, files, contents, now=now)
    artefacts.hold(session, report.run_id, held(report.artefacts))
    return Stored(run_id=report.run_id, stored=True)


def _require_cell(job: Holder, report: RunReport) -> None:
    if Cell(report.condition_key, report.protocol_key) not in job.cells:
        raise CellNotInJobError(report)


def _new(report: RunReport, job: Holder, now: datetime) -> NewRun:
    return NewRun(
        id=report.run_id,
        session_id=job.session_id,
        job_id=job.job_id,
        launch_id=report.launch_id,
        condition_key=report.condition_key,
        protocol_key=report.protocol_key,
        stack_key=job.stack_key,
        host=job.host or "",
        state=report.state,
        measured_at=report.measured_at,
        finished_at=report.finished_at,
        stored_at=now,
        seeds=list(report.seeds),
        overhead_s=list(report.overhead_s),
        findings=[finding.model_dump(mode="json") for finding in report.findings],
        broken=None if report.broken is None else report.broken.model_dump(mode="json"),
    )
