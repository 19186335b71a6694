"""Routes of gates in CI: ask for one, follow it, read what it says, cancel it."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request

from service.api.access import MayRead, MayRun
from service.api.callers import name_of
from service.api.door import Opened
from service.api.matrix import keep, rule_of
from service.api.sessions import IdempotencyKey
from service.domain.audit import Act, Noun
from service.formats.ci_gates import GateListed, GateOrder, GateRead
from service.usecases.announce import announce_next
from service.usecases.answer_gate import read_gate
from service.usecases.ask_gate import ask_gate
from service.usecases.cancel_session import cancel_session
from service.usecases.list_gates import Under, list_gates
from service.usecases.note_act import note_act

router = APIRouter(prefix="/gates", tags=["gates"])


@router.post("", status_code=201)
def ask(door: Opened, caller: MayRun, order: GateOrder, key: IdempotencyKey) -> GateRead:
    """Queue a candidate beside its base; asked again with the same key, answer the one there."""
    who = name_of(caller, order.who)
    with door.writing() as session:
        gate_id = ask_gate(session, order, idempotency_key=key, who=who, now=door.now())
        answer = read_gate(session, gate_id, now=door.now())
        nudges = announce_next(session, answer.session.id)
    door.announce(nudges)
    return answer


@router.get("")
def read_all(
    request: Request,
    door: Opened,
    _: MayRead,
    limit: Annotated[int, Query(ge=1, le=200)] = 20,
) -> tuple[GateListed, ...]:
    """Return the newest gates, newest first, and what each says by now."""
    under = Under(rule_of(request), door.now())
    with door.reading() as session:
        found, fresh = list_gates(session, under, limit=limit)
    keep(door, fresh)
    return found


@router.get("/{gate_id}")
def read(door: Opened, _: MayRead, gate_id: UUID) -> GateRead:
    """Return a gate, how far it is, and what it says by now."""
    with door.reading() as session:
        return read_gate(session, gate_id, now=door.now())


@router.post("/{gate_id}/cancel")
def cancel(door: Opened, caller: MayRun, gate_id: UUID) -> GateRead:
    """Cancel what is queued at once, and what runs at its next sign of life."""
    with door.writing() as session:
        found = read_gate(session, gate_id, now=door.now())
        cancel_session(session, found.session.id, now=door.now())
        who = name_of(caller, None)
        note_act(session, Act.CANCEL, Noun.GATE, gate_id, who=who, what="as asked", now=door.now())
        return read_gate(session, gate_id, now=door.now())
