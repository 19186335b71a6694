"""Routes of launches: a runner tells what it saw of one server process, anybody reads it."""

from uuid import UUID

from fastapi import APIRouter

from service.api.access import MayIngest, MayRead
from service.api.door import Opened
from service.api.errors import PathMismatchError
from service.formats.launches import LaunchRead
from service.formats.reports import LaunchReport
from service.usecases.read_launches import read_launch
from service.usecases.report_launch import report_launch

router = APIRouter(prefix="/launches", tags=["launches"])


@router.put("/{launch_id}", status_code=204)
def put(door: Opened, _: MayIngest, launch_id: UUID, report: LaunchReport) -> None:
    """Store a launch, in place of an earlier report of it."""
    if launch_id != report.launch_id:
        raise PathMismatchError(path=launch_id, body=report.launch_id)
    with door.writing() as session:
        report_launch(session, report, files=door.files, now=door.now())


@router.get("/{launch_id}")
def read(door: Opened, _: MayRead, launch_id: UUID) -> LaunchRead:
    """Return one launch: versions seen, drift, what it settled, its checks and its texts."""
    with door.reading() as session:
        return read_launch(session, launch_id)
