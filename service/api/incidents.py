"""Routes of incidents: open, answer, merge, split and open again; and Kunline's own record."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from service.api.access import MayRead, MayRun, MayTriage
from service.api.callers import name_of
from service.api.door import Opened
from service.api.unchanged import resting
from service.domain.incident import Triage
from service.formats.incidents import (
    IncidentDetail,
    IncidentOrder,
    IncidentPage,
    IncidentRead,
    MergeOrder,
    RecordRead,
    ReopenOrder,
    SplitOrder,
    TriageOrder,
)
from service.formats.profiles import ProfileOrder, ProfileRead
from service.store.incidents import IncidentFilter
from service.usecases.announce import announce_next
from service.usecases.order_profile import order_profile
from service.usecases.read_incidents import list_incidents, read_incident, read_record, rests_on
from service.usecases.read_profiles import list_profiles, read_profile
from service.usecases.triage_incident import (
    merge_incident,
    open_incident,
    reopen_incident,
    split_incident,
    triage_incident,
)

router = APIRouter(prefix="/incidents", tags=["incidents"])


@router.post("", status_code=201)
def add(door: Opened, caller: MayTriage, order: IncidentOrder) -> IncidentRead:
    """Open an incident from an event; from one event there is one, however often it is asked."""
    with door.writing() as session:
        return open_incident(session, order, who=name_of(caller, order.who), now=door.now())


@router.get("", response_model=IncidentPage)
def read_all(
    request: Request,
    door: Opened,
    _: MayRead,
    triage: Triage | None = None,
    is_open: bool | None = None,
    condition_key: Annotated[str | None, Query(pattern=r"^[0-9a-f]{64}$")] = None,
    owner: Annotated[str | None, Query(max_length=128)] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
) -> Response:
    """Return incidents, the newest opened first."""
    wanted = IncidentFilter(triage, is_open, condition_key, owner)
    with door.reading() as session:
        return resting(
            request,
            rests_on(session),
            lambda: list_incidents(session, wanted, limit=limit, cursor=cursor),
        )


@router.get("/record")
def read_the_record(door: Opened, _: MayRead) -> RecordRead:
    """Return the rate of false alarms, and the time to a verdict, as triage tells them."""
    with door.reading() as session:
        return read_record(session)


@router.get("/{incident_id}")
def read_one(door: Opened, _: MayRead, incident_id: UUID) -> IncidentDetail:
    """Return one incident, the runs its numbers came from, and what was done to it."""
    with door.reading() as session:
        return read_incident(session, incident_id)


@router.post("/{incident_id}/triage")
def triage(door: Opened, caller: MayTriage, incident_id: UUID, order: TriageOrder) -> IncidentRead:
    """Answer an incident; accepting it moves the baseline of its cells."""
    who = name_of(caller, order.who)
    with door.writing() as session:
        return triage_incident(session, incident_id, order, who=who, now=door.now())


@router.post("/{incident_id}/merge")
def merge(door: Opened, caller: MayTriage, incident_id: UUID, order: MergeOrder) -> IncidentRead:
    """Make an incident part of another, and return that one."""
    who = name_of(caller, order.who)
    with door.writing() as session:
        return merge_incident(session, incident_id, order, who=who, now=door.now())


@router.post("/{incident_id}/split", status_code=201)
def split(door: Opened, caller: MayTriage, incident_id: UUID, order: SplitOrder) -> IncidentRead:
    """Make some cells of an incident one of their own, and return that one."""
    who = name_of(caller, order.who)
    with door.writing() as session:
        return split_incident(session, incident_id, order, who=who, now=door.now())


@router.post("/{incident_id}/reopen")
def reopen(door: Opened, caller: MayTriage, incident_id: UUID, order: ReopenOrder) -> IncidentRead:
    """Open an incident again, or take it out of the one that it is part of."""
    who = name_of(caller, order.who)
    with door.writing() as session:
        return reopen_incident(session, incident_id, order, who=who, now=door.now())


@router.post("/{incident_id}/profiles", status_code=201)
def profile(door: Opened, caller: MayRun, incident_id: UUID, order: ProfileOrder) -> ProfileRead:
    """Profile both stacks of an incident, a launch each; one that is not over yet is answered."""
    who = name_of(caller, order.who)
    with door.writing() as session:
        session_id = order_profile(session, incident_id, order, who=who, now=door.now())
        answer = read_profile(session, incident_id, session_id, files=door.files)
        nudges = announce_next(session, session_id)
    door.announce(nudges)
    return answer


@router.get("/{incident_id}/profiles")
def read_the_profiles(door: Opened, _: MayRead, incident_id: UUID) -> tuple[ProfileRead, ...]:
    """Return what was profiled of an incident, the newest first."""
    with door.reading() as session:
        return list_profiles(session, incident_id, files=door.files)
