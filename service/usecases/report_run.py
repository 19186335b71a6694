"""Store a run as its report tells it, once however often the report arrives."""

from datetime import datetime

from service.domain.cell import Cell
from service.domain.job import require_token
from service.formats.reports import RunReport, Stored
from service.store import jobs, runs, whole_runs
from service.store.artefacts import Files
from service.store.database import ReadSession, WriteSession
from service.store.whole_runs import ToldRun, WholeRun
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
    stored = whole_runs.keep(session, files, whole_run(report, now))
    if not stored:
        _require_welcome(session, report)
    return Stored(run_id=report.run_id, stored=stored)


def whole_run(report: RunReport, now: datetime) -> WholeRun:
    """Return a report as what is stored of it, its artefacts checked."""
    run = ToldRun(
        id=report.run_id,
        job_id=report.job_id,
        fencing_token=report.fencing_token,
        launch_id=report.launch_id,
        condition_key=report.condition_key,
        protocol_key=report.protocol_key,
        state=report.state,
        measured_at=report.measured_at,
        finished_at=report.finished_at,
        stored_at=now,
        seeds=list(report.seeds),
        overhead_s=list(report.overhead_s),
        findings=[finding.model_dump(mode="json") for finding in report.findings],
        broken=None if report.broken is None else report.broken.model_dump(mode="json"),
    )
    return WholeRun(run, report.values, checked(report.artefacts), held(report.artefacts))


def _require_welcome(session: ReadSession, report: RunReport) -> None:
    """Raise what forbids a report that was not stored, unless its place was taken before.

    One that is sent again after its job went on is no error: what was stored in time is stored.
    """
    if runs.is_stored(session, report.run_id):
        return
    job = jobs.holder(session, report.job_id)
    require_token(given=report.fencing_token, current=job.fencing_token)
    if Cell(report.condition_key, report.protocol_key) not in job.cells:
        raise CellNotInJobError(report)
