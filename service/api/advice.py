"""Routes of the upgrade advisor: the answer to an upgrade, and the constraints it knows of."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from service.api.access import MayRead, MayTriage
from service.api.callers import name_of
from service.api.compat import refreshed
from service.api.door import Opened
from service.api.matrix import keep, rule_of
from service.formats.advice import AdviceQuestion, AdviceRead
from service.formats.constraints import (
    DeclarationOrder,
    DeclaredAll,
    DeclaredRead,
    RetractionOrder,
)
from service.formats.coverage import CoverageRead
from service.store import asks
from service.usecases.advise import advise, ask_digest
from service.usecases.declare_constraints import declare, list_declared, retract
from service.usecases.plan_coverage import plan_coverage

router = APIRouter(prefix="/compat", tags=["compat"])


@router.post("/check")
def check(request: Request, door: Opened, _: MayRead, asked: AdviceQuestion) -> AdviceRead:
    """Answer an upgrade: yes, yes with costs, no, or unknown, from what was measured.

    What was asked is counted, so that what people want to know is measured first.
    """
    refreshed(door, request)
    with door.reading() as session:
        answer, fresh = advise(session, asked, rule=rule_of(request))
    keep(door, fresh)
    if asked.keep:
        question = asked.model_dump(mode="json", exclude={"keep"})
        with door.writing() as session:
            asks.keep(session, ask_digest(asked), question, answer.answer.value, now=door.now())
    return answer


@router.get("/constraints")
def constraints(request: Request, door: Opened, _: MayRead) -> tuple[DeclaredRead, ...]:
    """Return the declared constraints, each beside the stacks that contradict it by working."""
    refreshed(door, request)
    with door.reading() as session:
        return list_declared(session)


@router.post("/constraints")
def declare_all(door: Opened, caller: MayTriage, order: DeclarationOrder) -> DeclaredAll:
    """Declare constraints; one of the same name takes the place of what was. Audited."""
    with door.writing() as session:
        found = declare(session, order, who=name_of(caller, order.who), now=door.now())
    return DeclaredAll(constraints=found)


@router.post("/constraints/retraction")
def take_back(door: Opened, caller: MayTriage, order: RetractionOrder) -> DeclaredAll:
    """Take a constraint back; it stays as history. Audited."""
    with door.writing() as session:
        found = retract(session, order, who=name_of(caller, order.who), now=door.now())
    return DeclaredAll(constraints=found)


@router.get("/plan")
def plan(
    request: Request,
    door: Opened,
    _: MayRead,
    budget_s: Annotated[int, Query(ge=1, le=10_000_000)] = 28_800,
) -> CoverageRead:
    """Propose what to measure next, within a budget of card time in seconds."""
    refreshed(door, request)
    with door.reading() as session:
        return plan_coverage(session, budget_s=budget_s, rule=rule_of(request), now=door.now())
