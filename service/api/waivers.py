"""Routes of waivers: what does not count in a gate for a while, and why."""

from uuid import UUID

from fastapi import APIRouter

from service.api.access import MayRead, MayTriage
from service.api.callers import name_of
from service.api.door import Opened
from service.formats.waivers import WaiverOrder, WaiverRead, WaiverRevocation
from service.usecases.waive import list_waivers, revoke_waiver, waive

router = APIRouter(prefix="/waivers", tags=["waivers"])


@router.post("", status_code=201)
def add(door: Opened, caller: MayTriage, order: WaiverOrder) -> WaiverRead:
    """Waive a worsening until a day, with a reason; it is audited."""
    who = name_of(caller, order.who)
    with door.writing() as session:
        return waive(session, order, who=who, now=door.now())


@router.get("")
def read_all(door: Opened, _: MayRead) -> tuple[WaiverRead, ...]:
    """Return every waiver, the newest made first."""
    with door.reading() as session:
        return list_waivers(session, now=door.now())


@router.post("/{waiver_id}/revocation")
def revoke(door: Opened, caller: MayTriage, waiver_id: UUID, order: WaiverRevocation) -> WaiverRead:
    """Take a waiver back before its time."""
    who = name_of(caller, order.who)
    with door.writing() as session:
        return revoke_waiver(session, waiver_id, order, who=who, now=door.now())
