"""Queries that keep and return gates in CI."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import func, insert, select, update

from service.domain.job import ENDED
from service.store.database import ReadSession, WriteSession
from service.store.tables import GateRow, JobRow, RunRow, WithdrawalRow


@dataclass(frozen=True, slots=True)
class StoredGate:
    """A gate as it lies in the database. content: its order, without the session's."""

    id: UUID
    session_id: UUID
    content: Mapping[str, Any]
    stops: Sequence[Mapping[str, Any]]
    asked_by: str
    asked_at: datetime


class UnknownGateError(LookupError):
    """No gate has that id."""

    def __init__(self, gate_id: UUID) -> None:
        super().__init__(f"no gate {gate_id}")


def keep(session: WriteSession, gate: StoredGate) -> None:
    """Store a new gate."""
    session.execute(
        insert(GateRow).values(
            id=gate.id,
            session_id=gate.session_id,
            content=dict(gate.content),
            stops=list(gate.stops),
            asked_by=gate.asked_by,
            asked_at=gate.asked_at,
        )
    )


def read(session: ReadSession, gate_id: UUID) -> StoredGate:
    """Return one gate. Raises UnknownGateError."""
    row = session.get(GateRow, gate_id, populate_existing=True)
    if row is None:
        raise UnknownGateError(gate_id)
    return _stored(row)


def of_session(session: ReadSession, session_id: UUID) -> StoredGate | None:
    """Return the gate that ordered a session, or None."""
    row = session.scalar(
        select(GateRow)
        .where(GateRow.session_id == session_id)
        .execution_options(populate_existing=True)
    )
    return None if row is None else _stored(row)


def newest(session: ReadSession, *, limit: int = 20) -> Sequence[StoredGate]:
    """Return gates, the newest asked for first."""
    rows = session.scalars(
        select(GateRow).order_by(GateRow.asked_at.desc(), GateRow.id).limit(limit)
    )
    return [_stored(row) for row in rows]


def measured(session: ReadSession, session_ids: Collection[UUID]) -> Mapping[UUID, str]:
    """Return for each session a text that is another one once another run of it may be judged."""
    rows = session.execute(
        select(
            RunRow.session_id,
            func.count(),
            func.count(WithdrawalRow.run_id),
            func.max(WithdrawalRow.withdrawn_at),
        )
        .outerjoin(WithdrawalRow, WithdrawalRow.run_id == RunRow.id)
        .where(RunRow.session_id.in_(session_ids))
        .group_by(RunRow.session_id)
    )
    return {
        session_id: f"{runs} {withdrawn} {last}"
        for session_id, runs, withdrawn, last in rows
        if session_id is not None
    }


def unended(session: ReadSession, session_ids: Collection[UUID]) -> frozenset[UUID]:
    """Return those of some sessions of which a job is still open, or stopping."""
    query = select(JobRow.session_id).where(
        JobRow.session_id.in_(session_ids), JobRow.state.not_in(ENDED)
    )
    return frozenset(session.scalars(query.distinct()))


def say_stopped(session: WriteSession, gate_id: UUID, stops: Sequence[Mapping[str, Any]]) -> None:
    """Keep which cells of a gate were stopped, in place of what was kept before."""
    session.execute(
        update(GateRow)
        .where(GateRow.id == gate_id)
        .values(stops=[dict(stop) for stop in stops])
        .execution_options(synchronize_session=False)
    )


def _stored(row: GateRow) -> StoredGate:
    return StoredGate(row.id, row.session_id, row.content, row.stops, row.asked_by, row.asked_at)
