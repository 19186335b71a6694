"""Ask for a gate: its session is queued, and what makes it a gate is kept beside."""

from datetime import datetime
from uuid import UUID, uuid4

from service.domain.audit import Act, Entry, Noun
from service.formats.ci_gates import GateOrder
from service.store import audits, ci_gates
from service.store.ci_gates import StoredGate
from service.store.database import WriteSession
from service.usecases.gate_cells import GateContent
from service.usecases.submit_session import submit_session


def ask_gate(
    session: WriteSession, order: GateOrder, *, idempotency_key: str, who: str, now: datetime
) -> UUID:
    """Store a gate and queue its session, and return the gate's id; asked again, the same one.

    Raises KeyReusedError when the key came with another order, and RepeatedCellError.
    """
    session_id = submit_session(session, order.session, idempotency_key=idempotency_key, now=now)
    if before := ci_gates.of_session(session, session_id):
        return before.id
    content = GateContent(
        base=order.base,
        candidate=order.candidate,
        cells=order.cells,
        planned_card_s=tuple(
            expected * launch.cards
            for expected, launch in zip(order.expected_s, order.session.launches, strict=True)
        ),
        rules=order.rules,
        mode=order.mode,
        reproduce=order.reproduce,
        notes=order.notes,
    )
    gate = StoredGate(uuid4(), session_id, content.model_dump(mode="json"), (), who, now)
    ci_gates.keep(session, gate)
    audits.keep(session, [_entry(gate, order)])
    return gate.id


def _entry(gate: StoredGate, order: GateOrder) -> Entry:
    """Return a gate as the audit keeps it: card time is spent in somebody's name."""
    return Entry(
        at=gate.asked_at,
        actor=gate.asked_by,
        act=Act.GATE,
        noun=Noun.GATE,
        noun_id=str(gate.id),
        reason=f"plan {order.session.plan}",
        after={
            "session_id": str(gate.session_id),
            "base": order.base.stack_key,
            "candidate": order.candidate.stack_key,
        },
    )
