"""Queries that keep and return stacks."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache

from pydantic import TypeAdapter
from sqlalchemy import or_, select

from service.domain.key import canonical_json, short
from service.domain.stack import Stack
from service.store.database import ReadSession, WriteSession
from service.store.inserts import insert_absent
from service.store.tables import StackRow

CONTENT = TypeAdapter(Stack)
# As many stacks are kept as pages list, a few kilobytes each.
PARSED = 1024
KEY_DIGITS = 64
# How many of the stacks that are meant a refusal names.
SHOWN = 5
_KEY_BEGINS = re.compile(r"[0-9a-f]{4,64}")


@dataclass(frozen=True, slots=True)
class StoredStack:
    """A stack, the chip it is for, and when it was built, which orders a series."""

    stack: Stack
    chip: str
    built_at: date


class UnknownStackError(LookupError):
    """No stack, or more than one, is stored under that key or name."""

    def __init__(self, asked: str, *, found: Sequence[str] = ()) -> None:
        if not found:
            super().__init__(
                f"no stack {asked} is stored: neither a name nor the first digits of a key"
            )
            return
        shown = ", ".join(map(short, found[:SHOWN]))
        more = ", …" if len(found) > SHOWN else ""
        super().__init__(f"{asked} is more than one stack; say which by its key: {shown}{more}")


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


def read(session: ReadSession, asked: str) -> StoredStack:
    """Return the one stack of that name, or whose key begins like that. Raises UnknownStackError.

    A stack file that changed has left stacks of one name: then only a key says which is meant.
    """
    if len(asked) == KEY_DIGITS and (whole := by_key(session, [asked])):
        return whole[asked]
    meant = StackRow.name == asked
    if _KEY_BEGINS.fullmatch(asked):
        meant = or_(meant, StackRow.key.startswith(asked, autoescape=True))
    rows = session.scalars(
        select(StackRow).where(meant).order_by(StackRow.key).limit(SHOWN + 1)
    ).all()
    if len(rows) != 1:
        raise UnknownStackError(asked, found=[row.key for row in rows])
    return _stored(rows[0])


def newest(session: ReadSession, *, limit: int = 200) -> Sequence[StoredStack]:
    """Return stacks, the newest built first."""
    rows = session.scalars(
        select(StackRow).order_by(StackRow.built_at.desc(), StackRow.key).limit(limit)
    )
    return [_stored(row) for row in rows]


def built_between(session: ReadSession, after: date, before: date) -> Sequence[str]:
    """Return the keys of the stacks that were built between two days, on neither of them."""
    within = StackRow.built_at > after, StackRow.built_at < before
    return session.scalars(select(StackRow.key).where(*within).order_by(StackRow.key)).all()


def _stored(row: StackRow) -> StoredStack:
    return StoredStack(_parsed(row.content), row.chip, row.built_at)


@lru_cache(maxsize=PARSED)
def _parsed(content: str) -> Stack:
    """Return a stack; its content never changes, and most pages name a hundred."""
    return CONTENT.validate_json(content)
