"""Queries that keep and return the audit. Nothing of it is ever changed or deleted."""

from collections.abc import Sequence
from dataclasses import fields

from sqlalchemy import select

from service.domain.audit import Act, Entry, Noun
from service.store.database import ReadSession, WriteSession
from service.store.inserts import insert_new
from service.store.tables import AuditRow

NAMES = tuple(field.name for field in fields(Entry))


def keep(session: WriteSession, entries: Sequence[Entry]) -> None:
    """Store what was done."""
    rows = [
        {
            **{name: getattr(entry, name) for name in NAMES},
            "act": entry.act.value,
            "noun": entry.noun.value,
        }
        for entry in entries
    ]
    insert_new(session, AuditRow, rows)


def of_thing(
    session: ReadSession, noun: Noun, noun_id: str, *, limit: int = 500
) -> Sequence[Entry]:
    """Return what was done to one thing, oldest first."""
    query = (
        select(AuditRow)
        .where(AuditRow.noun == noun.value, AuditRow.noun_id == noun_id)
        .order_by(AuditRow.number)
        .limit(limit)
    )
    return [_entry(row) for row in session.scalars(query)]


def _entry(row: AuditRow) -> Entry:
    return Entry(
        at=row.at,
        actor=row.actor,
        act=Act(row.act),
        noun=Noun(row.noun),
        noun_id=row.noun_id,
        reason=row.reason,
        before=row.before,
        after=row.after,
    )
