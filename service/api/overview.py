"""Routes of the overview: everything at a glance."""

from typing import Annotated

from fastapi import APIRouter, BackgroundTasks, FastAPI, Query, Request

from service.api.access import MayRead
from service.api.door import Door, Opened
from service.api.matrix import keep, rule_of
from service.formats.overview import OverviewRead
from service.store.overview import EndedSession
from service.usecases.read_overview import View, judge_ended, read_overview

router = APIRouter(tags=["overview"])

Channel = Annotated[str, Query(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+=-]{0,127}$")]


@router.get("/overview")
def read(
    request: Request,
    door: Opened,
    behind: BackgroundTasks,
    _: MayRead,
    channel: Channel = "main",
) -> OverviewRead:
    """Return pools and their runners, the last sessions and verdicts, and how much there is."""
    view = View(channel, rule_of(request), door.settings.leasing, door.now())
    with door.reading() as session:
        answer, telling = read_overview(session, view)
    keep(door, telling.fresh)
    if telling.later is not None:
        behind.add_task(_judge, request.app, door, telling.later, view)
    return answer


def _judge(app: FastAPI, door: Door, ended: EndedSession, view: View) -> None:
    """Judge a session after the answer was sent, one at a time, for whoever asks next."""
    if not app.state.judging.acquire(blocking=False):
        return
    try:
        with door.reading() as session:
            judged = judge_ended(session, ended, view)
        keep(door, [judged])
    finally:
        app.state.judging.release()
