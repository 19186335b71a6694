"""Queries that keep and return protocols."""

from collections.abc import Iterable, Mapping

from pydantic import TypeAdapter
from sqlalchemy import select

from service.domain.key import canonical_json
from service.domain.protocol import Protocol
from service.store.database import ReadSession, WriteSession
from service.store.inserts import insert_absent
from service.store.tables import ProtocolRow

CONTENT = TypeAdapter(Protocol)


class UnknownProtocolError(LookupError):
    """No protocol is stored under that key."""

    def __init__(self, key: str) -> None:
        super().__init__(f"no protocol {key}")


def keep(session: WriteSession, protocols: Iterable[Protocol]) -> None:
    """Store protocols that are not stored yet; one that is stays as it is."""
    rows = [{"key": found.key, "content": canonical_json(found)} for found in protocols]
    insert_absent(session, ProtocolRow, sorted(rows, key=lambda row: row["key"]))


def by_key(session: ReadSession, keys: Iterable[str]) -> Mapping[str, Protocol]:
    """Return the stored protocols among some keys."""
    rows = session.execute(
        select(ProtocolRow.key, ProtocolRow.content).where(ProtocolRow.key.in_(set(keys)))
    )
    return {row.key: CONTENT.validate_json(row.content) for row in rows}


def read(session: ReadSession, key: str) -> Protocol:
    """Return one protocol. Raises UnknownProtocolError."""
    found = by_key(session, [key])
    if key not in found:
        raise UnknownProtocolError(key)
    return found[key]
