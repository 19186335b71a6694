"""End a session when nothing of it is left to do: then its noise and its changes are told."""

from datetime import datetime
from uuid import UUID

from service.store import sessions
from service.store.database import WriteSession
from service.usecases.look import look_at_session
from service.usecases.measure_noise import measure_noise


def end_session(session: WriteSession, session_id: UUID, *, now: datetime) -> None:
    """Mark a session as finished when none of its jobs is open; store its noise and look at it."""
    if sessions.finish_if_done(session, session_id, now=now):
        measure_noise(session, session_id)
        look_at_session(session, session_id, now=now)
