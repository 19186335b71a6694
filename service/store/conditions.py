"""Queries that keep and return conditions."""

from collections.abc import Iterable, Mapping
from functools import lru_cache

from pydantic import TypeAdapter
from sqlalchemy import select

from service.domain.condition import Condition
from service.domain.key import canonical_json
from service.store.among import among
from service.store.database import ReadSession, WriteSession
from service.store.inserts import insert_absent
from service.store.tables import ConditionRow

CONTENT = TypeAdapter(Condition)
# As many conditions are kept as a large matrix has, a few kilobytes each.
PARSED = 4096


class UnknownConditionError(LookupError):
    """No condition is stored under that key."""

    def __init__(self, key: str) -> None:
        super().__init__(f"no condition {key}")


def keep(session: WriteSession, conditions: Iterable[Condition]) -> None:
    """Store conditions that are not stored yet; one that is stays as it is."""
    rows = [{"key": found.key, "content": canonical_json(found)} for found in conditions]
    insert_absent(session, ConditionRow, sorted(rows, key=lambda row: row["key"]))


def by_key(session: ReadSession, keys: Iterable[str]) -> Mapping[str, Condition]:
    """Return the stored conditions among some keys."""
    rows = session.execute(
        select(ConditionRow.key, ConditionRow.content).where(
            among(session, ConditionRow.key, set(keys))
        )
    )
    return {row.key: _parsed(row.content) for row in rows}


@lru_cache(maxsize=PARSED)
def _parsed(content: str) -> Condition:
    """Return a condition; its content never changes, and a page of a thousand asks for all."""
    return CONTENT.validate_json(content)


def read(session: ReadSession, key: str) -> Condition:
    """Return one condition. Raises UnknownConditionError."""
    found = by_key(session, [key])
    if key not in found:
        raise UnknownConditionError(key)
    return found[key]
