"""What a session's event stream sends: the session whole at first, then the jobs that changed."""

from typing import Self
from uuid import UUID

from service.formats.messages import Message
from service.formats.sessions import JobRead, SessionRead


class SessionChanged(Message):
    """A session, and those of its jobs that changed since the event before.

    session: its own fields; its jobs are left empty, and those that changed are in jobs.
    """

    session: SessionRead
    jobs: tuple[JobRead, ...]

    @classmethod
    def between(cls, before: SessionRead | None, after: SessionRead) -> Self:
        """Return what changed from one reading of a session to the next; all where it is new."""
        known = {job.id: job for job in before.jobs} if before else {}
        changed = tuple(job for job in after.jobs if known.get(job.id) != job)
        return cls(session=after.model_copy(update={"jobs": ()}), jobs=changed)


class SessionOver(Message):
    """The last event: nothing of the session will change any more, and the stream ends."""

    session_id: UUID
    state: str
