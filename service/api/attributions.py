"""Routes of attributions: tell how far a search is, and read what was found."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from service.api.access import MayRead, MayRun
from service.api.callers import name_of
from service.api.door import Opened
from service.formats.attributions import AttributionRead, AttributionReport
from service.usecases.keep_attribution import (
    keep_attribution,
    list_attributions,
    read_attribution,
)

router = APIRouter(prefix="/attributions", tags=["attributions"])


@router.get("")
def read_all(
    door: Opened,
    _: MayRead,
    incident_id: UUID | None = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> tuple[AttributionRead, ...]:
    """Return attributions, of one incident or of all, the newest begun first."""
    with door.reading() as session:
        return list_attributions(session, incident_id=incident_id, limit=limit)


@router.get("/{attribution_id}")
def read_one(door: Opened, _: MayRead, attribution_id: UUID) -> AttributionRead:
    """Return one attribution: how far it is, what it cost, and its answer so far."""
    with door.reading() as session:
        return read_attribution(session, attribution_id)


@router.put("/{attribution_id}")
def tell(
    door: Opened, caller: MayRun, attribution_id: UUID, report: AttributionReport
) -> AttributionRead:
    """Store how far a search is; a later report replaces it, and what has ended stays."""
    who = name_of(caller, report.who)
    with door.writing() as session:
        return keep_attribution(session, attribution_id, report, who=who, now=door.now())
