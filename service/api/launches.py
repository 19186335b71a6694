"""Routes of launches: a runner tells what it saw of one server process."""

from uuid import UUID

from fastapi import APIRouter

from service.api.access import MayIngest
from service.api.door import Opened
from service.api.errors import PathMismatchError
from service.formats.reports import LaunchReport
from service.usecases.report_launch import report_launch

router = APIRouter(prefix="/launches", tags=["launches"])


@router.put("/{launch_id}", status_code=204)
def put(door: Opened, _: MayIngest, launch_id: UUID, report: LaunchReport) -> None:
    """Store a launch, in place of an earlier report of it."""
    if launch_id != report.launch_id:
        raise PathMismatchError(path=launch_id, body=report.launch_id)
    with door.writing() as session:
        report_launch(session, report, files=door.files, now=door.now())
