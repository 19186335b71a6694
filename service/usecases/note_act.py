"""Note an act in the audit whose own row tells neither who did it nor why."""

from datetime import datetime

from service.domain.audit import Act, Entry, Noun
from service.store import audits
from service.store.database import WriteSession


def note_act(
    session: WriteSession,
    act: Act,
    noun: Noun,
    noun_id: object,
    *,
    who: str,
    what: str,
    now: datetime,
) -> None:
    """Keep who did what to a thing.

    An act that is asked for again (a write sent twice, a session cancelled twice) is kept once, for
    as long as nothing else was done to the thing in between.
    """
    before = audits.of_thing(session, noun, str(noun_id))
    last = before[-1] if before else None
    if last is not None and (last.act, last.actor, last.reason) == (act, who, what):
        return
    audits.keep(session, [Entry(now, who, act, noun, str(noun_id), what)])
