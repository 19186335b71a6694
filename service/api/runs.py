"""Routes of runs: a runner reports one, anybody reads them."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response

from service.api.access import MayIngest, MayRead
from service.api.door import Opened
from service.api.errors import PathMismatchError
from service.api.raw_body import RawBody, described, read_body, written
from service.formats.reports import RunReport, Stored
from service.formats.runs import RunDetail, RunPage, RunState
from service.store.runs import RunFilter
from service.usecases.read_runs import list_runs, read_run
from service.usecases.report_run import report_run

router = APIRouter(prefix="/runs", tags=["runs"])

KeyAsked = Annotated[str | None, Query(pattern=r"^[0-9a-f]{64}$")]


@router.put("/{run_id}", response_model=Stored, openapi_extra=described(RunReport))
def put(door: Opened, _: MayIngest, run_id: UUID, body: RawBody) -> Response:
    """Store a run, once however often it is sent."""
    report = read_body(RunReport, body)
    if run_id != report.run_id:
        raise PathMismatchError(path=run_id, body=report.run_id)
    with door.writing() as session:
        stored = report_run(session, report, files=door.files, now=door.now())
    return written(stored)


@router.get("")
def read_all(
    door: Opened,
    _: MayRead,
    stack_key: KeyAsked = None,
    condition_key: KeyAsked = None,
    session_id: UUID | None = None,
    host: Annotated[str | None, Query(max_length=128)] = None,
    state: RunState | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
) -> RunPage:
    """Return runs, the newest stored first."""
    wanted = RunFilter(stack_key, condition_key, session_id, host, state)
    with door.reading() as session:
        return list_runs(session, wanted, limit=limit, cursor=cursor)


@router.get("/{run_id}")
def read(door: Opened, _: MayRead, run_id: UUID) -> RunDetail:
    """Return one run with every repeat."""
    with door.reading() as session:
        return read_run(session, run_id)
