"""Routes of baselines: pin a stack, show what is pinned, take a move back, and keep rules."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from service.api.access import MayRead, MayTriage
from service.api.callers import name_of
from service.api.door import Opened
from service.api.unchanged import resting
from service.formats.baselines import (
    BaselinePin,
    BaselineRead,
    MovePage,
    MoveRead,
    RuleOrder,
    RuleRead,
    UndoOrder,
)
from service.usecases.keep_rule import end_rule, list_rules, make_rule
from service.usecases.pin_baseline import list_baselines, pin_baseline
from service.usecases.undo_move import list_moves, rests_on, undo_move

router = APIRouter(prefix="/baselines", tags=["baselines"])


Channel = Annotated[str | None, Query(max_length=128)]


@router.post("", status_code=201)
def pin(door: Opened, caller: MayTriage, wanted: BaselinePin) -> tuple[BaselineRead, ...]:
    """Pin a stack as the baseline of the cells it was measured in."""
    who = name_of(caller, wanted.who)
    with door.writing() as session:
        return pin_baseline(session, wanted, who=who, now=door.now())


@router.get("")
def read_all(
    door: Opened, _: MayRead, channel: Channel = None, history: bool = False
) -> tuple[BaselineRead, ...]:
    """Return the pins in force, or with history those they replaced as well."""
    with door.reading() as session:
        return list_baselines(session, channel=channel, history=history)


@router.get("/moves", response_model=MovePage)
def read_moves(
    request: Request,
    door: Opened,
    _: MayRead,
    channel: Channel = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
) -> Response:
    """Return every move of baselines: who, when, why, and each cell's from and to."""
    with door.reading() as session:
        return resting(
            request,
            rests_on(session),
            lambda: list_moves(session, channel=channel, limit=limit, cursor=cursor),
        )


@router.post("/moves/{move_id}/undo", status_code=201)
def undo(door: Opened, caller: MayTriage, move_id: UUID, order: UndoOrder) -> MoveRead:
    """Put back what a move replaced, by a move of its own."""
    who = name_of(caller, order.who)
    with door.writing() as session:
        return undo_move(session, move_id, why=order.why, who=who, now=door.now())


@router.get("/rules")
def read_rules(door: Opened, _: MayRead) -> tuple[RuleRead, ...]:
    """Return the rules by which channels get a first baseline, the newest first."""
    with door.reading() as session:
        return list_rules(session)


@router.post("/rules", status_code=201)
def add_rule(door: Opened, caller: MayTriage, order: RuleOrder) -> RuleRead:
    """Let the first accepted run of some stacks become the baseline of cells that had none."""
    who = name_of(caller, order.who)
    with door.writing() as session:
        return make_rule(session, order, who=who, now=door.now())


@router.post("/rules/{rule_id}/end")
def end(door: Opened, caller: MayTriage, rule_id: UUID, order: UndoOrder) -> RuleRead:
    """End a rule; the baselines that it gave stay."""
    who = name_of(caller, order.who)
    with door.writing() as session:
        return end_rule(session, rule_id, why=order.why, who=who, now=door.now())
