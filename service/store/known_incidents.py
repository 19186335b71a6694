"""Queries that return the incidents that a gate's base is known to have."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import func, or_, select

from service.domain.cell import Cell
from service.domain.incident import SETTLED, Direction
from service.store.database import ReadSession
from service.store.tables import IncidentCellRow, IncidentRow

# Open for the worse: neither accepted nor explained, nor seen to be over.
OPEN = (
    IncidentRow.direction == Direction.WORSE.value,
    IncidentRow.triage.not_in([answer.value for answer in SETTLED]),
    IncidentRow.verified_at.is_(None),
    IncidentRow.merged_into.is_(None),
)


@dataclass(frozen=True, slots=True)
class KnownIncident:
    """An incident that is open for the worse, as little of it as tells which it is."""

    id: UUID
    title: str
    opened_at: datetime


def by_stack(session: ReadSession, stack_keys: Collection[str]) -> Mapping[str, str]:
    """Return for each of some stacks a text that is another one once of_base may say otherwise."""
    rows = session.execute(
        select(
            IncidentRow.baseline_stack_key,
            IncidentRow.candidate_stack_key,
            IncidentRow.id,
            func.count(),
        )
        .join(IncidentCellRow, IncidentCellRow.incident_id == IncidentRow.id)
        .where(
            *OPEN,
            or_(
                IncidentRow.baseline_stack_key.in_(stack_keys),
                IncidentRow.candidate_stack_key.in_(stack_keys),
            ),
        )
        .group_by(IncidentRow.baseline_stack_key, IncidentRow.candidate_stack_key, IncidentRow.id)
        .order_by(IncidentRow.id)
        .limit(10_000)
    ).all()
    return {
        key: " ".join(
            f"{incident_id}:{cells}"
            for baseline, candidate, incident_id, cells in rows
            if key in {baseline, candidate}
        )
        for key in stack_keys
    }


def of_base(
    session: ReadSession, stack_key: str, *, conditions: Collection[str]
) -> Mapping[Cell, KnownIncident]:
    """Return the oldest open incident of each cell that is of a stack, on either side of it.

    Open is what nobody has accepted or explained, nor seen to be over: see domain/incident.py.
    """
    rows = session.execute(
        select(
            IncidentCellRow.condition_key,
            IncidentCellRow.protocol_key,
            IncidentRow.id,
            IncidentRow.title,
            IncidentRow.opened_at,
        )
        .join(IncidentRow, IncidentRow.id == IncidentCellRow.incident_id)
        .where(
            IncidentCellRow.condition_key.in_(conditions),
            *OPEN,
            or_(
                IncidentRow.baseline_stack_key == stack_key,
                IncidentRow.candidate_stack_key == stack_key,
            ),
        )
        .order_by(IncidentRow.opened_at.desc(), IncidentRow.id)
        .limit(10_000)
    )
    return {
        Cell(row.condition_key, row.protocol_key): KnownIncident(row.id, row.title, row.opened_at)
        for row in rows
    }
