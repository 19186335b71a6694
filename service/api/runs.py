"""Routes of runs: a runner reports one, anybody reads them."""

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from service.api.access import MayRead, require
from service.api.door import Door, Opened, door_of
from service.api.errors import PathMismatchError
from service.api.straight import body_of, described, read_body, written
from service.api.together import Together
from service.domain.token import Scope
from service.formats.reports import RunReport, Stored
from service.formats.runs import RunDetail, RunPage, RunState
from service.store.runs import RunFilter
from service.store.whole_runs import WholeRun, keep_at_once
from service.usecases.read_runs import list_runs, read_run
from service.usecases.report_run import report_runs, whole_run

# A body that takes longer to read than a request should wait for another's.
LARGE_BYTES = 256 * 1024
# Transactions of a process that PostgreSQL works on at one time: with one, it waits for us between
# two; with three, our own threads wait for each other.
GOES = 2

router = APIRouter(prefix="/runs", tags=["runs"])


def storing(door: Door) -> Together[WholeRun, Stored]:
    """Return what stores runs that arrive at one time in one transaction."""

    def do(wholes: Sequence[WholeRun]) -> Sequence[Stored | Exception]:
        stored = keep_at_once(door.engine, door.files, wholes)
        left = [whole for whole in wholes if whole.run.id not in stored]
        told: dict[UUID, Stored | Exception] = {
            run_id: Stored(run_id=run_id, stored=True) for run_id in stored
        }
        if left:
            # What is there already or refused is asked for once more, to be told why.
            with door.writing() as session:
                answers = report_runs(session, left, files=door.files)
            told |= {whole.run.id: answer for whole, answer in zip(left, answers, strict=True)}
        return [told[whole.run.id] for whole in wholes]

    return Together(
        do,
        name=lambda whole: whole.run.id,
        for_all=(OperationalError, PoolTimeoutError),
        # SQLite lets one writer in.
        goes=1 if door.engine.dialect.name == "sqlite" else GOES,
    )


KeyAsked = Annotated[str | None, Query(pattern=r"^[0-9a-f]{64}$")]


@router.put("/{run_id}", response_model=Stored, openapi_extra=described(RunReport))
async def put(request: Request, run_id: UUID) -> Response:
    """Store a run, once however often it is sent."""
    door = await door_of(request)
    await require(request, door, Scope.INGEST)
    body = await body_of(request)
    if len(body) > LARGE_BYTES:
        whole = await run_in_threadpool(_whole, door, run_id, body)
    else:
        whole = _whole(door, run_id, body)
    together: Together[WholeRun, Stored] = request.app.state.storing
    return written(await together(whole))


def _whole(door: Door, run_id: UUID, body: bytes) -> WholeRun:
    report = read_body(RunReport, body)
    if run_id != report.run_id:
        raise PathMismatchError(path=run_id, body=report.run_id)
    return whole_run(report, door.now())


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
