"""Queries that keep and return what was judged, for as long as it rests on what is there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Insert, delete, select
from sqlalchemy.dialects import postgresql, sqlite

from service.store.among import among
from service.store.database import ReadSession, WriteSession
from service.store.tables import JudgedRow

# As many subjects as one statement names at most.
BATCH = 1000
# What was judged longer ago is judged anew when somebody asks.
KEPT = timedelta(days=60)


@dataclass(frozen=True, slots=True)
class Judged:
    """An answer about a subject, and what it rests on; both are digests."""

    subject: str
    rests_on: str
    answer: Mapping[str, Any]


def known(session: ReadSession, wanted: Mapping[str, str]) -> Mapping[str, Mapping[str, Any]]:
    """Return the answers that rest on what they should, by subject. wanted: rests_on by subject."""
    columns = JudgedRow.subject, JudgedRow.rests_on, JudgedRow.answer
    # What rests on something else is not read at all: it may be megabytes.
    query = select(*columns).where(
        among(session, JudgedRow.subject, wanted.keys()),
        among(session, JudgedRow.rests_on, set(wanted.values())),
    )
    return {
        row.subject: row.answer
        for row in session.execute(query)
        if row.rests_on == wanted[row.subject]
    }


def keep(session: WriteSession, judged: Sequence[Judged], *, now: datetime) -> None:
    """Store answers in place of older ones about the same, and drop what is old."""
    rows = [
        {
            "subject": each.subject,
            "rests_on": each.rests_on,
            "answer": dict(each.answer),
            "judged_at": now,
        }
        # In one order for all writers, so that two of them never wait in a ring.
        for each in sorted(judged, key=lambda each: each.subject)
    ]
    for begin in range(0, len(rows), BATCH):
        session.connection().execute(_upsert(session), rows[begin : begin + BATCH])
    session.execute(
        delete(JudgedRow)
        .where(JudgedRow.judged_at < now - KEPT)
        .execution_options(synchronize_session=False)
    )


def _upsert(session: WriteSession) -> Insert:
    changed = ("rests_on", "answer", "judged_at")
    if session.get_bind().dialect.name == "sqlite":
        fresh = sqlite.insert(JudgedRow)
        return fresh.on_conflict_do_update(
            index_elements=["subject"], set_={name: fresh.excluded[name] for name in changed}
        )
    new = postgresql.insert(JudgedRow)
    return new.on_conflict_do_update(
        index_elements=["subject"], set_={name: new.excluded[name] for name in changed}
    )
