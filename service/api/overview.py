"""Routes of the overview: everything at a glance."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from service.api.access import MayRead
from service.api.door import Opened
from service.api.matrix import keep, rule_of
from service.formats.overview import OverviewRead
from service.usecases.read_overview import View, read_overview

router = APIRouter(tags=["overview"])

Channel = Annotated[str, Query(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+=-]{0,127}$")]


@router.get("/overview")
def read(request: Request, door: Opened, _: MayRead, channel: Channel = "main") -> OverviewRead:
    """Return pools and their runners, the last sessions and verdicts, and how much there is."""
    view = View(channel, rule_of(request), door.settings.leasing, door.now())
    with door.reading() as session:
        answer, fresh = read_overview(session, view)
    keep(door, fresh)
    return answer
