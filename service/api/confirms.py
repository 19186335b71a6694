"""Routes of confirms: begin one of an event, follow it, read what came of it, cancel it."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from service.api.access import MayRead, MayRun
from service.api.callers import name_of
from service.api.door import Opened
from service.domain.confirm import State
from service.formats.confirms import BudgetRead, ConfirmOrder, ConfirmPage, ConfirmRead
from service.store.confirms import ConfirmFilter
from service.usecases.announce import announce_next
from service.usecases.cancel_confirm import cancel_confirm
from service.usecases.confirm_budget import read_budget
from service.usecases.open_confirm import open_confirm
from service.usecases.read_confirms import list_confirms, read_confirm

router = APIRouter(prefix="/confirms", tags=["confirms"])


@router.post("", status_code=201)
def begin(door: Opened, caller: MayRun, order: ConfirmOrder) -> ConfirmRead:
    """Measure an event's cells again on both stacks; one that is not over yet is answered."""
    who = name_of(caller, order.who)
    with door.writing() as session:
        budget, now = door.settings.budget, door.now()
        confirm_id = open_confirm(session, order, budget=budget, who=who, now=now)
        answer = read_confirm(session, confirm_id)
        nudges = announce_next(session, answer.session_id) if answer.session_id else ()
    door.announce(nudges)
    return answer


@router.get("")
def read_all(
    door: Opened,
    _: MayRead,
    event_id: UUID | None = None,
    incident_id: UUID | None = None,
    state: State | None = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
) -> ConfirmPage:
    """Return confirms, the newest asked first."""
    wanted = ConfirmFilter(event_id, incident_id, state)
    with door.reading() as session:
        return list_confirms(session, wanted, limit=limit, cursor=cursor)


@router.get("/budget")
def budget(door: Opened, _: MayRead) -> BudgetRead:
    """Return what confirms may cost, and what those of the last 24 hours do."""
    with door.reading() as session:
        return read_budget(session, door.settings.budget, now=door.now())


@router.get("/{confirm_id}")
def read(door: Opened, _: MayRead, confirm_id: UUID) -> ConfirmRead:
    """Return one confirm: how far it is, what it cost, and what each look said."""
    with door.reading() as session:
        return read_confirm(session, confirm_id)


@router.post("/{confirm_id}/cancel")
def cancel(door: Opened, caller: MayRun, confirm_id: UUID) -> ConfirmRead:
    """Cancel what is queued at once, and what runs at its next sign of life."""
    with door.writing() as session:
        cancel_confirm(session, confirm_id, who=name_of(caller, None), now=door.now())
        return read_confirm(session, confirm_id)
