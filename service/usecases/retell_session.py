"""Tell once more what follows from a finished session, or what nobody told of it before."""

from datetime import datetime
from uuid import UUID

from service.store.database import WriteSession
from service.usecases.look import look_at_session
from service.usecases.measure_noise import measure_noise


def retell_session(session: WriteSession, session_id: UUID, *, now: datetime) -> None:
    """Store a session's noise, and look at it where that was never done.

    What is told already comes out the same, so it may be told again at any time.
    """
    measure_noise(session, session_id)
    look_at_session(session, session_id, now=now)
