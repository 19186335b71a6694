"""Store runs as their reports tell them, once however often a report arrives."""

from collections.abc import Sequence
from datetime import datetime

from service.domain.cell import Cell
from service.domain.job import StaleTokenError, require_token
from service.formats.reports import RunReport, Stored
from service.store import jobs, runs, whole_runs
from service.store.artefacts import Files
from service.store.database import ReadSession, WriteSession
from service.store.jobs import UnknownJobError
from service.store.whole_runs import ToldRun, WholeRun
from service.usecases.keep_artefact import checked, held


class CellNotInJobError(ValueError):
    """A report names a cell that its job never asked for."""

    def __init__(self, run: ToldRun) -> None:
        super().__init__(
            f"job {run.job_id} has no cell of condition {run.condition_key[:12]} "
            f"and protocol {run.protocol_key[:12]}"
        )


# Why a report is not stored, as the error that says so.
Refusal = UnknownJobError | StaleTokenError | CellNotInJobError


def report_runs(
    session: WriteSession, wholes: Sequence[WholeRun], *, files: Files
) -> Sequence[Stored | Refusal]:
    """Store runs with their samples and artefacts; answer each in its place.

    wholes: of different ids. A run is new when neither its id nor its job's cell has one yet; the
    first to arrive stays. One that is refused does not hold the others up.
    """
    stored = whole_runs.keep(session, files, wholes)
    return [
        Stored(run_id=whole.run.id, stored=True)
        if whole.run.id in stored
        else _not_stored(session, whole.run)
        for whole in wholes
    ]


def whole_run(report: RunReport, now: datetime) -> WholeRun:
    """Return a report as what is stored of it, its artefacts checked.

    Raises whatever service.usecases.keep_artefact.checked raises.
    """
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


def _not_stored(session: ReadSession, run: ToldRun) -> Stored | Refusal:
    """Return that a run's place was taken before, or why it is refused.

    One that is sent again after its job went on is no error: what was stored in time is stored.
    """
    if not runs.is_stored(session, run.id):
        try:
            _require_welcome(session, run)
        except (UnknownJobError, StaleTokenError, CellNotInJobError) as refusal:
            return refusal
    return Stored(run_id=run.id, stored=False)


def _require_welcome(session: ReadSession, run: ToldRun) -> None:
    job = jobs.holder(session, run.job_id)
    require_token(given=run.fencing_token, current=job.fencing_token)
    if Cell(run.condition_key, run.protocol_key) not in job.cells:
        raise CellNotInJobError(run)
