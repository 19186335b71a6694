"""Queries that keep and return what upgrades people ask about."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, select, update

from service.store.database import ReadSession, WriteSession
from service.store.inserts import insert_absent
from service.store.tables import CompatAskRow, RunRow, SessionRow

# What nobody asked for so long counts no more.
KEPT = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class Ask:
    """One upgrade, how often it was asked about, when last, and what was answered then."""

    digest: str
    question: Mapping[str, Any]
    answer: str
    times: int
    asked_at: datetime


def keep(
    session: WriteSession, digest: str, question: Mapping[str, Any], answer: str, *, now: datetime
) -> None:
    """Count a question, and drop what nobody asks any more."""
    row = {
        "digest": digest,
        "question": dict(question),
        "answer": answer,
        "times": 0,
        "asked_at": now,
    }
    insert_absent(session, CompatAskRow, [row])
    session.execute(
        update(CompatAskRow)
        .where(CompatAskRow.digest == digest)
        .values(times=CompatAskRow.times + 1, answer=answer, asked_at=now)
        .execution_options(synchronize_session=False)
    )
    session.execute(
        delete(CompatAskRow)
        .where(CompatAskRow.asked_at < now - KEPT)
        .execution_options(synchronize_session=False)
    )


def newest(session: ReadSession, *, limit: int) -> Sequence[Ask]:
    """Return what was asked, the newest first."""
    query = select(CompatAskRow).order_by(CompatAskRow.asked_at.desc(), CompatAskRow.digest)
    return [
        Ask(row.digest, row.question, row.answer, row.times, row.asked_at)
        for row in session.scalars(query.limit(limit))
    ]


def plans(session: ReadSession, condition_keys: Collection[str]) -> Mapping[str, str]:
    """Return the plan that last measured each of some conditions; imports have none."""
    rows = session.execute(
        select(RunRow.condition_key, SessionRow.plan, SessionRow.created_at)
        .join(SessionRow, SessionRow.id == RunRow.session_id)
        .where(RunRow.condition_key.in_(set(condition_keys)))
        .distinct()
        .order_by(SessionRow.created_at)
    )
    return {row.condition_key: row.plan for row in rows}
