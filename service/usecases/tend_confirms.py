"""Tend confirms: begin what suspicions ask for, retry what waits, end what nobody came for."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from uuid import UUID

from service.domain.confirm import Budget, Ending, State
from service.domain.verdict import Outcome
from service.formats.confirms import ConfirmOrder
from service.formats.nudges import Nudge
from service.store import confirms, jobs, sessions
from service.store.confirms import StoredConfirm
from service.store.database import WriteSession
from service.usecases.announce import announce_next
from service.usecases.cancel_session import cancel_session
from service.usecases.conclude_confirm import conclude_confirm
from service.usecases.end_session import end_session
from service.usecases.open_confirm import begin_confirm, open_confirm
from service.usecases.verify_fixes import KUNLINE

# Older suspicions are confirmed where a person asks for it: the stacks have moved on since.
FRESH = timedelta(days=3)
# What waits is tried again so often; a launch that nobody came for in so long is not awaited.
RETRY = timedelta(minutes=1)
DESERTED = timedelta(hours=24)
# As many of each kind as one sweep looks after.
AT_ONCE = 5
WHY = "the screen suspects a change"


def tend_confirms(session: WriteSession, *, budget: Budget, now: datetime) -> tuple[Nudge, ...]:
    """Look after confirms and return the nudges to send once that is committed.

    A suspicion for the worse begins one by itself; one for the better is a person's to ask for, as
    it is no alarm that wakes anybody.
    """
    confirms.hold(session)
    begun = [*_retried(session, budget, now)]
    if budget.automatic:
        for event_id in confirms.unasked(session, since=now - FRESH, limit=AT_ONCE):
            order = ConfirmOrder(event_id=event_id, why=WHY)
            opened = open_confirm(session, order, budget=budget, who=KUNLINE, now=now)
            begun.append(confirms.read(session, opened))
    _end_deserted(session, now)
    sessions_begun = [each.session_id for each in begun if each.session_id is not None]
    return tuple(
        nudge for session_id in sessions_begun for nudge in announce_next(session, session_id)
    )


def _retried(session: WriteSession, budget: Budget, now: datetime) -> Iterator[StoredConfirm]:
    for waiting in confirms.of_state(session, State.WAITING, limit=AT_ONCE):
        if now - waiting.changed_at >= RETRY:
            yield begin_confirm(session, waiting, budget=budget, now=now)


def _end_deserted(session: WriteSession, now: datetime) -> None:
    """End confirms whose session a person cancelled, or that no runner has come for."""
    for running in confirms.of_state(session, State.RUNNING, limit=AT_ONCE):
        session_id = running.session_id
        if session_id is None:
            continue
        if sessions.read(session, session_id).state == "cancelled":
            end_session(session, session_id, now=now)
        elif now - running.changed_at > DESERTED and not _is_held(session, session_id):
            cancel_session(session, session_id, now=now)
            reason = f"no runner of {running.host} came for its next launch in 24 hours"
            conclude_confirm(
                session,
                running,
                Outcome.INCONCLUSIVE,
                by=Ending.NOBODY_CAME,
                reason=reason,
                now=now,
            )


def _is_held(session: WriteSession, session_id: UUID) -> bool:
    return any(job.lease_until is not None for job in jobs.of_session(session, session_id))
