"""Routes of qualifications: open one, go on with it step by step, and read its dossier."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request

from service.api.access import MayRead, MayRun, MayTriage
from service.api.callers import name_of
from service.api.compat import refreshed
from service.api.door import Opened
from service.formats.qualifications import (
    ActDone,
    DecisionMade,
    DossierRead,
    PhaseSessions,
    QualificationOrder,
    QualificationRead,
)
from service.usecases.qualify import (
    decide,
    list_qualifications,
    measure_phase,
    open_qualification,
    read_qualification,
    tell_done,
)
from service.usecases.read_dossier import read_dossier

router = APIRouter(prefix="/qualifications", tags=["qualifications"])


@router.post("", status_code=201)
def open_one(door: Opened, caller: MayRun, order: QualificationOrder) -> QualificationRead:
    """Open a qualification: an upgrade as a procedure."""
    who = name_of(caller, order.who)
    with door.writing() as session:
        return open_qualification(session, order, who=who, now=door.now())


@router.get("")
def read_all(
    door: Opened, _: MayRead, limit: Annotated[int, Query(ge=1, le=200)] = 20
) -> tuple[QualificationRead, ...]:
    """Return qualifications, newest first."""
    with door.reading() as session:
        return list_qualifications(session, limit=limit)


@router.get("/{qualification_id}")
def read(door: Opened, _: MayRead, qualification_id: UUID) -> QualificationRead:
    """Return one qualification and its next step."""
    with door.reading() as session:
        return read_qualification(session, qualification_id)


@router.post("/{qualification_id}/sessions")
def measure(
    door: Opened, caller: MayRun, qualification_id: UUID, told: PhaseSessions
) -> QualificationRead:
    """Say which sessions measure both hosts in the phase that is next."""
    who = name_of(caller, None)
    with door.writing() as session:
        return measure_phase(session, qualification_id, told, who=who, now=door.now())


@router.post("/{qualification_id}/acts")
def done(
    door: Opened, caller: MayTriage, qualification_id: UUID, told: ActDone
) -> QualificationRead:
    """Say that the canary was changed, or rolled back, with each point of its list ticked."""
    who = name_of(caller, told.who)
    with door.writing() as session:
        return tell_done(session, qualification_id, told, who=who, now=door.now())


@router.post("/{qualification_id}/decision")
def made(
    door: Opened, caller: MayTriage, qualification_id: UUID, told: DecisionMade
) -> QualificationRead:
    """Keep the change, or ask for its rollback."""
    who = name_of(caller, told.who)
    with door.writing() as session:
        return decide(session, qualification_id, told, who=who, now=door.now())


@router.get("/{qualification_id}/dossier")
def dossier(request: Request, door: Opened, _: MayRead, qualification_id: UUID) -> DossierRead:
    """Return the page to sign: the answer, sizes with intervals, and what was not tested."""
    refreshed(door, request)
    with door.reading() as session:
        return read_dossier(session, qualification_id, now=door.now())
