"""Queries that return the stacks that cells were measured on before a stack was built."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from sqlalchemy import func, select

from service.domain.cell import Cell
from service.domain.incident import Direction, Triage
from service.store.database import ReadSession
from service.store.tables import (
    IncidentCellRow,
    IncidentRow,
    RunRow,
    StackRow,
    WithdrawalRow,
)


@dataclass(frozen=True, slots=True)
class EarlierStack:
    """A stack that has a measured run in a cell, and when it was built."""

    key: str
    name: str
    built_at: date


def earlier(
    session: ReadSession, built_before: date, *, conditions: Collection[str], host: str, each: int
) -> Mapping[Cell, Sequence[EarlierStack]]:
    """Return the last stacks built before a day that a host measured in each cell, newest first.

    each: how many of a cell at most.
    """
    cell = RunRow.condition_key, RunRow.protocol_key
    found = (
        select(*cell, StackRow.key, StackRow.name, StackRow.built_at)
        .join(StackRow, StackRow.key == RunRow.stack_key)
        .outerjoin(WithdrawalRow, WithdrawalRow.run_id == RunRow.id)
        .where(
            RunRow.condition_key.in_(conditions),
            RunRow.host == host,
            RunRow.state == "measured",
            WithdrawalRow.run_id.is_(None),
            StackRow.built_at < built_before,
        )
        .distinct()
        .subquery()
    )
    place = func.row_number().over(
        partition_by=(found.c.condition_key, found.c.protocol_key),
        order_by=(found.c.built_at.desc(), found.c.key),
    )
    ranked = select(found, place.label("place")).subquery()
    rows = session.execute(
        select(ranked).where(ranked.c.place <= each).order_by(ranked.c.place)
    ).mappings()
    by_cell: dict[Cell, list[EarlierStack]] = defaultdict(list)
    for row in rows:
        at = Cell(row["condition_key"], row["protocol_key"])
        by_cell[at].append(EarlierStack(row["key"], row["name"], row["built_at"]))
    return by_cell


def brought(
    session: ReadSession, stack_keys: Collection[str], *, conditions: Collection[str]
) -> Mapping[tuple[str, Cell], Triage]:
    """Return what people said of the incidents for the worse that some stacks brought, by cell."""
    rows = session.execute(
        select(
            IncidentRow.candidate_stack_key,
            IncidentCellRow.condition_key,
            IncidentCellRow.protocol_key,
            IncidentRow.triage,
        )
        .join(IncidentRow, IncidentRow.id == IncidentCellRow.incident_id)
        .where(
            IncidentRow.candidate_stack_key.in_(stack_keys),
            IncidentRow.direction == Direction.WORSE.value,
            IncidentCellRow.condition_key.in_(conditions),
        )
        .order_by(IncidentRow.opened_at, IncidentRow.id)
    )
    return {
        (stack_key, Cell(condition, protocol)): Triage(triage)
        for stack_key, condition, protocol, triage in rows
    }
