"""Queries that remember what a write was answered with."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import select

from service.store.database import ReadSession, WriteSession
from service.store.inserts import took
from service.store.tables import IdempotencyRow


@dataclass(frozen=True, slots=True)
class Answered:
    """What a key was used for, and what came of it."""

    request_digest: str
    answer_id: UUID


def keep(session: WriteSession, key: str, answered: Answered, *, now: datetime) -> bool:
    """Take a key and return True; return False where it was taken before."""
    row = {
        "key": key,
        "request_digest": answered.request_digest,
        "answer_id": answered.answer_id,
        "stored_at": now,
    }
    return took(session, IdempotencyRow, row)


def read(session: ReadSession, key: str) -> Answered | None:
    """Return what a key was used for, or None."""
    row = session.execute(
        select(IdempotencyRow.request_digest, IdempotencyRow.answer_id).where(
            IdempotencyRow.key == key
        )
    ).one_or_none()
    return None if row is None else Answered(row.request_digest, row.answer_id)
