"""The event stream of a session: how far it is, as it happens, until it is over.

Whoever listens costs a coroutine that sleeps, and no thread: a session is read once a second,
however many listen to it, and each of them is sent what changed.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Header, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.exceptions import HTTPException

from service.api.access import MayRead
from service.api.door import Door, Opened
from service.domain.job import ENDED
from service.formats.session_events import SessionChanged, SessionOver
from service.formats.sessions import SessionRead
from service.store.sessions import OPEN
from service.usecases.read_sessions import read_session

router = APIRouter(prefix="/sessions", tags=["sessions"])

EVERY_S = 1.0
# A browser connects again by itself, to whichever process then takes it.
STREAM_S = 1800.0
LISTENERS_MAX = 200
TAG_BYTES = 12

LastEventId = Annotated[str | None, Header(alias="Last-Event-ID", max_length=100)]


@dataclass(frozen=True, slots=True)
class Seen:
    """A session as it was read at some time of the process's clock. tag: of its content."""

    at: float
    tag: str
    session: SessionRead

    @property
    def is_over(self) -> bool:
        """Whether nothing of it will change any more: a cancelled one may still be stopping."""
        ended = all(job.state in ENDED for job in self.session.jobs)
        return ended and self.session.state not in OPEN


@dataclass(slots=True)
class Listened:
    """One session that somebody listens to."""

    listeners: int = 0
    seen: Seen | None = None
    reading: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(slots=True)
class Followed:
    """All sessions that somebody listens to in this process."""

    every_s: float = EVERY_S
    listeners_max: int = LISTENERS_MAX
    clock: Callable[[], float] = time.monotonic
    sessions: dict[UUID, Listened] = field(default_factory=dict)

    @property
    def listeners(self) -> int:
        """How many listen now."""
        return sum(listened.listeners for listened in self.sessions.values())

    def join(self, session_id: UUID) -> Listened:
        """Count one more listener of a session."""
        listened = self.sessions.setdefault(session_id, Listened())
        listened.listeners += 1
        return listened

    def leave(self, session_id: UUID) -> None:
        """Count one listener of a session less, and forget it with the last of them."""
        listened = self.sessions[session_id]
        listened.listeners -= 1
        if not listened.listeners:
            del self.sessions[session_id]

    async def look(self, door: Door, session_id: UUID, listened: Listened) -> Seen:
        """Return a session as it is, read by one of its listeners for all of them."""
        async with listened.reading:
            seen = listened.seen
            if seen is None or self.clock() - seen.at >= self.every_s / 2:
                seen = listened.seen = await run_in_threadpool(self._read, door, session_id)
        return seen

    def _read(self, door: Door, session_id: UUID) -> Seen:
        with door.reading() as session:
            found = read_session(session, session_id)
        content = found.model_dump_json().encode()
        tag = blake2b(content, digest_size=TAG_BYTES).hexdigest()
        return Seen(self.clock(), tag, found)


async def _first(request: Request, door: Opened, _: MayRead, session_id: UUID) -> Seen:
    """Return the session before its stream begins, so that a wrong id is answered as one.

    Raises UnknownSessionError.
    """
    followed: Followed = request.app.state.followed
    if followed.listeners >= followed.listeners_max:
        raise HTTPException(503, "too many listen to sessions already; ask for the session itself")
    return await followed.look(door, session_id, Listened())


@router.get("/{session_id}/events", response_class=EventSourceResponse)
async def events(
    request: Request,
    door: Opened,
    session_id: UUID,
    first: Annotated[Seen, Depends(_first)],
    last_event_id: LastEventId = None,
) -> AsyncIterator[ServerSentEvent]:
    """Send a session whole, then whatever changes, then that it is over.

    `session` and `jobs` are SessionChanged, `over` is SessionOver. A caller that names the last
    event it had is sent nothing anew that it knows already.
    """
    followed: Followed = request.app.state.followed
    listened = followed.join(session_id)
    try:
        async for event in _events(followed, door, listened, first, last_event_id):
            yield event
    finally:
        followed.leave(session_id)


async def _events(
    followed: Followed, door: Door, listened: Listened, first: Seen, known: str | None
) -> AsyncIterator[ServerSentEvent]:
    until = followed.clock() + STREAM_S
    session_id = first.session.id
    if first.tag != known:
        yield _event("session", first, SessionChanged.between(None, first.session))
    before = first
    while not before.is_over and followed.clock() < until:
        await asyncio.sleep(followed.every_s)
        seen = await followed.look(door, session_id, listened)
        if seen.tag != before.tag:
            yield _event("jobs", seen, SessionChanged.between(before.session, seen.session))
        before = seen
    if before.is_over:
        yield _event("over", before, SessionOver(session_id=session_id, state=before.session.state))


def _event(name: str, seen: Seen, data: SessionChanged | SessionOver) -> ServerSentEvent:
    return ServerSentEvent(event=name, id=seen.tag, data=data)
