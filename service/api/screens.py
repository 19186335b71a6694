"""Routes of the screen: what it says of each series, and the events that it saw."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from pydantic import AwareDatetime

from service.api.access import MayRead
from service.api.door import Opened
from service.api.unchanged import resting
from service.domain.screen import Answer
from service.formats.events import EventDetail, EventPage, ScreenPage
from service.store.events import EventFilter
from service.store.screens import ScreenFilter
from service.usecases.read_events import list_events, read_event, rests_on
from service.usecases.read_screens import list_screens

router = APIRouter(tags=["screens"])

KeyAsked = Annotated[str | None, Query(pattern=r"^[0-9a-f]{64}$")]
HostAsked = Annotated[str | None, Query(max_length=128)]


@router.get("/screens")
def read_screens(
    door: Opened,
    _: MayRead,
    condition_key: KeyAsked = None,
    protocol_key: KeyAsked = None,
    metric: Annotated[str | None, Query(max_length=64)] = None,
    host: HostAsked = None,
    answer: Answer | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    cursor: Annotated[str | None, Query(max_length=800)] = None,
) -> ScreenPage:
    """Return what the screen last answered in each series: no alarm, or suspect."""
    wanted = ScreenFilter(condition_key, protocol_key, metric, host, answer)
    with door.reading() as session:
        return list_screens(session, wanted, limit=limit, cursor=cursor)


@router.get("/events", response_model=EventPage)
def read_events(
    request: Request,
    door: Opened,
    _: MayRead,
    host: HostAsked = None,
    condition_key: KeyAsked = None,
    since: AwareDatetime | None = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
) -> Response:
    """Return events, the newest seen first. since: seen then or later."""
    wanted = EventFilter(host, condition_key, since)
    with door.reading() as session:
        return resting(
            request,
            rests_on(session),
            lambda: list_events(session, wanted, limit=limit, cursor=cursor),
        )


@router.get("/events/{event_id}")
def read_one_event(door: Opened, _: MayRead, event_id: UUID) -> EventDetail:
    """Return one event with the runs it came from."""
    with door.reading() as session:
        return read_event(session, event_id)
