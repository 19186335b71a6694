"""End a session when nothing of it is left to do: then its noise and its changes are told."""

from datetime import datetime
from uuid import UUID

from service.store import compat, jobs, sessions
from service.store.database import WriteSession
from service.usecases.advance_confirm import advance_confirm
from service.usecases.advance_gate import advance_gate
from service.usecases.keep_rule import pin_by_rules
from service.usecases.look import look_at_session
from service.usecases.measure_noise import measure_noise
from service.usecases.notify import notify_night
from service.usecases.verify_fixes import verify_fixes


def end_session(session: WriteSession, session_id: UUID, *, now: datetime) -> None:
    """Mark a session as finished when none of its jobs is open; store its noise and look at it.

    The session of a gate or a confirm may have nothing left to do because what is left would tell
    nothing new.
    """
    advance_gate(session, session_id, now=now)
    advance_confirm(session, session_id, now=now)
    if sessions.finish_if_done(session, session_id, now=now):
        measure_noise(session, session_id)
        look_at_session(session, session_id, now=now)
        verify_fixes(session, session_id, now=now)
        pin_by_rules(session, session_id, now=now)
        notify_night(session, session_id, now=now)
        compat.forget(session, {job.stack_key for job in jobs.of_session(session, session_id)})
