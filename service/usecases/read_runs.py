"""Read runs: a page of them, newest first, or one with every repeat."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from service.domain.cell import title
from service.formats.artefacts import ArtefactRead
from service.formats.imports import Imported
from service.formats.reports import Broken, GateFinding
from service.formats.runs import RunDetail, RunPage, RunRead
from service.formats.verdicts import DifferenceRead
from service.formats.withdrawals import WithdrawalRead
from service.store import artefacts, conditions, imports, runs, samples, stacks
from service.store.database import ReadSession
from service.store.runs import RunFilter, StoredRun


class CursorError(ValueError):
    """A cursor is not one that an earlier page gave."""

    def __init__(self) -> None:
        super().__init__("this cursor was not given by an earlier page")


def list_runs(
    session: ReadSession, wanted: RunFilter, *, limit: int, cursor: str | None
) -> RunPage:
    """Return a page of runs, the newest stored first. Raises CursorError."""
    before = None if cursor is None else read_cursor(cursor)
    found = runs.newest(session, wanted, before=before, limit=limit + 1)
    page = found[:limit]
    more = len(found) > limit
    return RunPage(
        runs=_read_all(session, page),
        cursor=cursor_of(page[-1].stored_at, page[-1].id) if more and page else None,
    )


def read_run(session: ReadSession, run_id: UUID) -> RunDetail:
    """Return one run with every repeat. Raises UnknownRunError."""
    run = runs.read(session, run_id)
    held = artefacts.of_holders(session, [run_id])[run_id]
    return RunDetail(
        run=_read_all(session, [run])[0],
        seeds=tuple(run.seeds),
        values=dict(samples.of_runs(session, [run_id])[run_id]),
        overhead_s=tuple(run.overhead_s),
        findings=tuple(GateFinding.model_validate(finding) for finding in run.findings),
        broken=None if run.broken is None else Broken.model_validate(run.broken),
        drift=tuple(DifferenceRead.model_validate(difference) for difference in run.drift),
        resolution=dict(run.resolution),
        artefacts=tuple(
            ArtefactRead(
                name=artefact.name,
                media_type=artefact.media_type,
                digest=artefact.digest,
                size_bytes=artefact.size_bytes,
            )
            for artefact in held
        ),
        imported=_imported(session, run),
        withdrawal=None if run.withdrawal is None else WithdrawalRead.of(run.withdrawal),
    )


def _imported(session: ReadSession, run: StoredRun) -> Imported | None:
    found = imports.find(session, run.id) if run.is_imported else None
    if found is None:
        return None
    told = {name: getattr(found, name) for name in Imported.model_fields}
    return Imported.model_validate(told)


def _read_all(session: ReadSession, found: Sequence[StoredRun]) -> tuple[RunRead, ...]:
    names = stacks.names(session, {run.stack_key for run in found})
    under = conditions.by_key(session, {run.condition_key for run in found})
    medians = samples.medians(session, [run.id for run in found])
    return tuple(
        RunRead.model_validate(
            {
                "id": run.id,
                "session_id": run.session_id,
                "job_id": run.job_id,
                "launch_id": run.launch_id,
                "condition_key": run.condition_key,
                "protocol_key": run.protocol_key,
                "title": title(under[run.condition_key]),
                "stack_key": run.stack_key,
                "stack_name": names[run.stack_key],
                "host": run.host,
                "state": run.state,
                "drifted": bool(run.drift),
                "imported": run.is_imported,
                "withdrawn": run.withdrawal is not None,
                "measured_at": run.measured_at,
                "finished_at": run.finished_at,
                "stored_at": run.stored_at,
                # A file tells no seeds, and one result of it is one repeat.
                "repeats": len(run.seeds) or int(run.is_imported),
                "medians": medians[run.id],
            }
        )
        for run in found
    )


def cursor_of(moment: datetime, row_id: UUID) -> str:
    """Return where a page ends that is in order of a moment and an id."""
    return urlsafe_b64encode(f"{moment.isoformat()} {row_id}".encode()).decode()


def read_cursor(cursor: str) -> tuple[datetime, UUID]:
    """Return the moment and the id that cursor_of() was given. Raises CursorError."""
    try:
        told, _, row_id = urlsafe_b64decode(cursor).decode().partition(" ")
        moment = datetime.fromisoformat(told)
        found = moment, UUID(row_id)
    except ValueError as error:
        raise CursorError from error
    if moment.tzinfo is None:
        raise CursorError
    return found
