"""Routes of withdrawals: a run is taken out of every judgement, or taken back; nothing is lost."""

from uuid import UUID

from fastapi import APIRouter

from service.api.access import MayRead, MayTriage
from service.api.callers import name_of
from service.api.door import Opened
from service.formats.audits import AuditRead
from service.formats.withdrawals import RestorationOrder, WithdrawalOrder, WithdrawalRead
from service.usecases.withdraw_run import read_history, restore_run, withdraw_run

router = APIRouter(prefix="/runs/{run_id}", tags=["runs"])


@router.post("/withdrawal", status_code=201)
def withdraw(
    door: Opened, caller: MayTriage, run_id: UUID, order: WithdrawalOrder
) -> WithdrawalRead:
    """Withdraw a run: it is kept and shown, and never judged."""
    who = name_of(caller, order.who)
    with door.writing() as session:
        return withdraw_run(session, run_id, order, who=who, now=door.now())


@router.post("/restoration", status_code=201)
def restore(door: Opened, caller: MayTriage, run_id: UUID, order: RestorationOrder) -> AuditRead:
    """Take a run's withdrawal back."""
    who = name_of(caller, order.who)
    with door.writing() as session:
        return restore_run(session, run_id, order, who=who, now=door.now())


@router.get("/history")
def history(door: Opened, _: MayRead, run_id: UUID) -> tuple[AuditRead, ...]:
    """Return what people did to a run, oldest first."""
    with door.reading() as session:
        return read_history(session, run_id)
