"""Withdraw a run from every judgement, and take that back: audited, and nothing is deleted."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from service.domain.audit import Act, Entry, Noun
from service.domain.withdrawal import Withdrawal
from service.formats.audits import AuditRead
from service.formats.withdrawals import RestorationOrder, WithdrawalOrder, WithdrawalRead
from service.store import audits, compat, imports, runs, withdrawals
from service.store.database import ReadSession, WriteSession
from service.usecases.look import look_again
from service.usecases.measure_noise import measure_noise

NOT_WITHDRAWN = {"withdrawn": False}


class AlreadyWithdrawnError(ValueError):
    """A run is withdrawn for another reason, or in favour of another run."""

    def __init__(self, withdrawal: Withdrawal) -> None:
        super().__init__(
            f"run {withdrawal.run_id} was {withdrawal.sentence}; restore it before it is "
            "withdrawn for something else"
        )


class NotWithdrawnError(ValueError):
    """A run that is not withdrawn cannot be restored."""

    def __init__(self, run_id: UUID) -> None:
        super().__init__(f"run {run_id} is not withdrawn: there is nothing to restore")


class ReplacementError(ValueError):
    """A run cannot stand in the place of another."""

    def __init__(self, replacement: UUID, why: str) -> None:
        super().__init__(f"run {replacement} cannot stand in its place: {why}")


class ReplacedRunError(ValueError):
    """The result of a run is stored anew, so the run cannot come back beside it."""

    def __init__(self, run_id: UUID) -> None:
        super().__init__(
            f"the result of run {run_id} is stored again under a corrected condition; import it "
            "with --correct under the condition that is right"
        )


def withdraw_run(
    session: WriteSession, run_id: UUID, order: WithdrawalOrder, *, who: str, now: datetime
) -> WithdrawalRead:
    """Withdraw a run; asked for the same again, answer the withdrawal that is there.

    Raises UnknownRunError, ReplacementError and AlreadyWithdrawnError.
    """
    run = runs.read(session, run_id)
    if order.replaced_by is not None:
        _require_replacement(session, run_id, order.replaced_by)
    wanted = Withdrawal(run_id, now, who, order.reason, order.replaced_by)
    if withdrawals.keep(session, wanted):
        audits.keep(session, [entry_of(wanted, None)])
        _measure_noise(session, run.session_id)
        look_again(session, [run_id], now=now)
        compat.forget(session, [run.stack_key])
        return WithdrawalRead.of(wanted)
    there = withdrawals.find(session, run_id)
    if there is None or (there.reason, there.replaced_by) != (wanted.reason, wanted.replaced_by):
        raise AlreadyWithdrawnError(there or wanted)
    return WithdrawalRead.of(there)


def restore_run(
    session: WriteSession, run_id: UUID, order: RestorationOrder, *, who: str, now: datetime
) -> AuditRead:
    """Take the withdrawal of a run back; asked for the same again, answer the act that is there.

    Raises UnknownRunError, NotWithdrawnError and ReplacedRunError.
    """
    run = runs.read(session, run_id)
    there = withdrawals.find(session, run_id)
    if there is None:
        return _restored_before(session, run_id, order, who)
    imported = imports.find(session, run_id)
    if imported is not None and imported.replaced_at is not None:
        raise ReplacedRunError(run_id)
    withdrawals.end(session, run_id)
    _measure_noise(session, run.session_id)
    look_again(session, [run_id], now=now)
    compat.forget(session, [run.stack_key])
    entry = Entry(
        at=now,
        actor=who,
        act=Act.RESTORE,
        noun=Noun.RUN,
        noun_id=str(run_id),
        reason=order.reason,
        before=_state(there),
        after=NOT_WITHDRAWN,
    )
    audits.keep(session, [entry])
    return AuditRead.of(entry)


def read_history(session: ReadSession, run_id: UUID) -> tuple[AuditRead, ...]:
    """Return what people did to a run, oldest first. Raises UnknownRunError."""
    run = runs.read(session, run_id)
    brought = imports.entry_of_run(session, run.id)
    found: Sequence[Entry] = audits.of_thing(session, Noun.RUN, str(run_id))
    return tuple(AuditRead.of(entry) for entry in (*([brought] if brought else []), *found))


def entry_of(withdrawal: Withdrawal, before: Withdrawal | None) -> Entry:
    """Return a withdrawal as the audit keeps it. before: one that it takes the place of."""
    return Entry(
        at=withdrawal.withdrawn_at,
        actor=withdrawal.withdrawn_by,
        act=Act.WITHDRAW,
        noun=Noun.RUN,
        noun_id=str(withdrawal.run_id),
        reason=withdrawal.reason,
        before=NOT_WITHDRAWN if before is None else _state(before),
        after=_state(withdrawal),
    )


def _measure_noise(session: WriteSession, session_id: UUID | None) -> None:
    """Tell a session's noise anew without, or again with, one of its runs."""
    if session_id is not None:
        measure_noise(session, session_id)


def _state(withdrawal: Withdrawal) -> dict[str, Any]:
    """Return what a withdrawn run is, as the audit keeps it."""
    return {
        "withdrawn": True,
        "reason": withdrawal.reason,
        "replaced_by": str(withdrawal.replaced_by) if withdrawal.replaced_by else None,
    }


def _require_replacement(session: ReadSession, run_id: UUID, replacement: UUID) -> None:
    if replacement == run_id:
        raise ReplacementError(replacement, "it is the run itself")
    if runs.read(session, replacement).withdrawal is not None:
        raise ReplacementError(replacement, "it is withdrawn as well")


def _restored_before(
    session: ReadSession, run_id: UUID, order: RestorationOrder, who: str
) -> AuditRead:
    """Return the act that restored a run, when it is the one asked for: a call may come twice."""
    done = audits.of_thing(session, Noun.RUN, str(run_id))
    if not done or (done[-1].act, done[-1].reason, done[-1].actor) != (
        Act.RESTORE,
        order.reason,
        who,
    ):
        raise NotWithdrawnError(run_id)
    return AuditRead.of(done[-1])
