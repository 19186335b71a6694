"""Routes of sessions: queue one, follow it, cancel it, read its verdicts."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Header, Query, Request, Response

from service.api.access import MayRead, MayRun
from service.api.callers import name_of
from service.api.door import Opened
from service.api.matrix import keep, rule_of
from service.api.unchanged import tagged
from service.domain.audit import Act, Noun
from service.domain.token import Caller
from service.formats.comparisons import SessionVerdicts
from service.formats.sessions import SessionOrder, SessionRead
from service.store.database import WriteSession
from service.usecases.announce import announce_next
from service.usecases.cancel_session import cancel_session
from service.usecases.note_act import note_act
from service.usecases.read_sessions import list_sessions, read_session
from service.usecases.submit_session import submit_session
from service.usecases.whole_answers import verdicts_of_session

router = APIRouter(prefix="/sessions", tags=["sessions"])

IdempotencyKey = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        pattern=r"^[\x21-\x7e]{1,128}$",
        description="Another one for each session; the same one when asking again.",
    ),
]
StackKey = Annotated[str | None, Query(pattern=r"^[0-9a-f]{6,64}$")]
Channel = Annotated[str, Query(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+=-]{0,127}$")]


@router.post("", status_code=201)
def submit(door: Opened, caller: MayRun, order: SessionOrder, key: IdempotencyKey) -> SessionRead:
    """Queue a session; asked again with the same key, answer the one already there."""
    with door.writing() as session:
        session_id = submit_session(session, order, idempotency_key=key, now=door.now())
        _note(session, Act.ORDER, session_id, caller, door.now(), what=f"plan {order.plan}")
        answer = read_session(session, session_id)
        nudges = announce_next(session, session_id)
    door.announce(nudges)
    return answer


def _note(
    session: WriteSession, act: Act, session_id: UUID, caller: Caller, now: datetime, *, what: str
) -> None:
    who = name_of(caller, None)
    note_act(session, act, Noun.SESSION, session_id, who=who, what=what, now=now)


@router.get("")
def read_all(
    door: Opened, _: MayRead, limit: Annotated[int, Query(ge=1, le=200)] = 20
) -> tuple[SessionRead, ...]:
    """Return the newest sessions, newest first."""
    with door.reading() as session:
        return list_sessions(session, limit=limit)


@router.get("/{session_id}")
def read(door: Opened, _: MayRead, session_id: UUID) -> SessionRead:
    """Return one session and its jobs in order."""
    with door.reading() as session:
        return read_session(session, session_id)


@router.post("/{session_id}/cancel")
def cancel(door: Opened, caller: MayRun, session_id: UUID) -> SessionRead:
    """Cancel what is queued at once, and what runs at its next sign of life."""
    with door.writing() as session:
        cancel_session(session, session_id, now=door.now())
        _note(session, Act.CANCEL, session_id, caller, door.now(), what="as asked")
        return read_session(session, session_id)


@router.get("/{session_id}/verdicts", response_model=SessionVerdicts)
def verdicts(
    request: Request,
    door: Opened,
    _: MayRead,
    session_id: UUID,
    baseline: StackKey = None,
    channel: Channel = "main",
) -> Response:
    """Judge each cell of the session's candidates against baseline and last accepted stack."""
    with door.reading() as session:
        found = verdicts_of_session(
            session, session_id, baseline=baseline, channel=channel, rule=rule_of(request)
        )
    keep(door, [found.fresh] if found.fresh else [])
    return tagged(request, found.text)
