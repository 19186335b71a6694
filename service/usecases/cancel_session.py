"""Cancel a session: what is queued at once, what runs at its next sign of life."""

from datetime import datetime
from uuid import UUID

from service.store import jobs, sessions
from service.store.database import WriteSession


def cancel_session(session: WriteSession, session_id: UUID, *, now: datetime) -> None:
    """Mark a session as cancelled; one that is over stays as it is. Raises UnknownSessionError."""
    sessions.read(session, session_id)
    # Jobs first, as everybody who moves one does: a job that is being lost just now would else go
    # back to the queue of a session that is over, and stay there.
    jobs.hold_all(session, session_id)
    sessions.cancel(session, session_id, now=now)
    if sessions.read(session, session_id).state == "cancelled":
        jobs.cancel_queued(session, session_id, now=now)
