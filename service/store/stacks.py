"""Queries that keep and return stacks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from pydantic import TypeAdapter
from sqlalchemy import select

from service.domain.key import canonical_json
from service.domain.stack import Stack
from service.store.database import ReadSession, WriteSession
from service.store.inserts import insert_absent
from service.store.tables import StackRow

CONTENT = TypeAdapter(Stack)


@dataclass(frozen=True, slots=True)
class StoredStack:
    """A stack, the chip it is for, and when it was built, which orders a series."""

    stack: Stack
    chip: str
    built_at: date


class UnknownStackError(LookupError):
    """No stack, or more than one, is stored under that key."""

    def __init__(self, key: str, *, found: int = 0) -> None:
        what = "no stack" if found == 0 else f"{found} stacks begin with"
        super().__init__(f"{what} {key}")


def keep(session: WriteSession, stacks: Iterable[StoredStack], *, now: datetime) -> None:
    """Store stacks that are not stored yet; one that is keeps its first name and date."""
    rows = [
        {
            "key": found.stack.key,
            "name": found.stack.name,
            "chip": found.chip,
            "built_at": found.built_at,
            "content": canonical_json(found.stack),
            "first_seen_at": now,
        }
        for found in stacks
    ]
    insert_absent(session, StackRow, sorted(rows, key=lambda row: str(row["key"])))


def by_key(session: ReadSession, keys: Iterable[str]) -> Mapping[str, StoredStack]:
    """Return the stored stacks among some keys."""
    rows = session.scalars(select(StackRow).where(StackRow.key.in_(set(keys))))
    return {row.key: _stored(row) for row in rows}


def names(session: ReadSession, keys: Iterable[str]) -> Mapping[str, str]:
    """Return the names of the stacks under some keys."""
    rows = session.execute(select(StackRow.key, StackRow.name).where(StackRow.key.in_(set(keys))))
    return {row.key: row.name for row in rows}


def read(session: ReadSession, key: str) -> StoredStack:
    """Return the one stack whose key begins with the text given. Raises UnknownStackError."""
    rows = session.scalars(
        select(StackRow).where(StackRow.key.startswith(key, autoescape=True)).limit(2)
    ).all()
    if len(rows) != 1:
        raise UnknownStackError(key, found=len(rows))
    return _stored(rows[0])


def newest(session: ReadSession, *, limit: int = 200) -> Sequence[StoredStack]:
    """Return stacks, the newest built first."""
    rows = session.scalars(
        select(StackRow).order_by(StackRow.built_at.desc(), StackRow.key).limit(limit)
    )
    return [_stored(row) for row in rows]


def _stored(row: StackRow) -> StoredStack:
    return StoredStack(CONTENT.validate_json(row.content), row.chip, row.built_at)
