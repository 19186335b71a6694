"""Queries that keep, change and return incidents and what they list."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Select, delete, func, insert, select, tuple_, update

from service.domain.cell import Cell
from service.domain.incident import SETTLED, Answer, Direction, Incident, IncidentCell, Triage
from service.store.database import ReadSession, WriteSession
from service.store.tables import IncidentCellRow, IncidentRow

# As many incidents as a record, or a frozen baseline, is told by.
MOST = 5_000


@dataclass(frozen=True, slots=True)
class IncidentFilter:
    """Which incidents are asked for; None leaves a field open. is_open: nothing is settled yet."""

    triage: Triage | None = None
    is_open: bool | None = None
    condition_key: str | None = None
    owner: str | None = None


class UnknownIncidentError(LookupError):
    """No incident has that id."""

    def __init__(self, incident_id: UUID) -> None:
        super().__init__(f"no incident {incident_id}; `kunline incident list` shows them")


def hold(session: WriteSession) -> None:
    """Let nobody else open, answer or pin around incidents until this session ends.

    A pin and an incident on its cells may come at once, and neither has a row to wait for.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.execute(select(func.pg_advisory_xact_lock(func.hashtextextended("incidents", 0))))


def keep(session: WriteSession, incident: Incident, cells: Sequence[IncidentCell]) -> None:
    """Store a new incident and what it lists."""
    session.execute(insert(IncidentRow).values(id=incident.id, **_row(incident)))
    list_cells(session, incident.id, cells)


def list_cells(session: WriteSession, incident_id: UUID, cells: Sequence[IncidentCell]) -> None:
    """Add metrics of cells to what an incident lists."""
    rows = [
        {
            "incident_id": incident_id,
            "condition_key": each.cell.condition_key,
            "protocol_key": each.cell.protocol_key,
            "metric": each.metric,
            "change": each.change,
            "low": each.low,
            "high": each.high,
            "session_id": each.session_id,
            "run_ids": [str(run_id) for run_id in each.run_ids],
        }
        for each in cells
    ]
    if rows:
        session.execute(insert(IncidentCellRow), rows)


def list_evidence(
    session: WriteSession,
    incident_id: UUID,
    found: Sequence[IncidentCell],
    *,
    also: Sequence[IncidentCell] = (),
) -> None:
    """List metrics of cells with new evidence, in place of what was listed of them before.

    also: listed as well where nothing is known of them yet.
    """
    known = {(each.cell, each.metric) for each in cells(session, [incident_id])[incident_id]}
    for each in found:
        session.execute(
            delete(IncidentCellRow)
            .where(
                IncidentCellRow.incident_id == incident_id,
                IncidentCellRow.condition_key == each.cell.condition_key,
                IncidentCellRow.protocol_key == each.cell.protocol_key,
                IncidentCellRow.metric == each.metric,
            )
            .execution_options(synchronize_session=False)
        )
        known.add((each.cell, each.metric))
    fresh = [each for each in also if (each.cell, each.metric) not in known]
    list_cells(session, incident_id, [*found, *fresh])


def change(session: WriteSession, incident: Incident) -> None:
    """Store what an incident has become."""
    session.execute(
        update(IncidentRow)
        .where(IncidentRow.id == incident.id)
        .values(**_row(incident))
        .execution_options(synchronize_session=False)
    )


def move_cells(
    session: WriteSession, cells: Collection[Cell], *, apart_from: UUID, to: UUID
) -> None:
    """List cells under another incident than the one that they are under."""
    at = tuple_(IncidentCellRow.condition_key, IncidentCellRow.protocol_key)
    session.execute(
        update(IncidentCellRow)
        .where(
            IncidentCellRow.incident_id == apart_from,
            at.in_([(cell.condition_key, cell.protocol_key) for cell in cells]),
        )
        .values(incident_id=to)
        .execution_options(synchronize_session=False)
    )


def read(session: ReadSession, incident_id: UUID) -> Incident:
    """Return one incident. Raises UnknownIncidentError."""
    found = _all(session, select(IncidentRow.__table__).where(IncidentRow.id == incident_id))
    if not found:
        raise UnknownIncidentError(incident_id)
    return found[0]


def of_event(session: ReadSession, event_id: UUID) -> Incident | None:
    """Return the incident that was opened from an event, or None."""
    query = select(IncidentRow.__table__).where(IncidentRow.event_id == event_id)
    found = _all(session, query.order_by(IncidentRow.opened_at, IncidentRow.id).limit(1))
    return found[0] if found else None


def parts(session: ReadSession, incident_ids: Collection[UUID]) -> Sequence[Incident]:
    """Return the incidents that are part of some incidents, oldest first."""
    query = select(IncidentRow.__table__).where(IncidentRow.merged_into.in_(incident_ids))
    return _all(session, query.order_by(IncidentRow.opened_at, IncidentRow.id).limit(MOST))


def newest(
    session: ReadSession,
    wanted: IncidentFilter,
    *,
    before: tuple[datetime, UUID] | None = None,
    limit: int,
) -> Sequence[Incident]:
    """Return incidents that are whole, the newest opened first; before: the last of a page."""
    query = _filtered(wanted).order_by(IncidentRow.opened_at.desc(), IncidentRow.id.desc())
    if before is not None:
        query = query.where(tuple_(IncidentRow.opened_at, IncidentRow.id) < before)
    return _all(session, query.limit(limit))


def open_of_conditions(
    session: ReadSession, condition_keys: Collection[str]
) -> Mapping[Cell, Incident]:
    """Return the open incident that each cell of some conditions is listed in, the oldest first.

    A cell of an incident that is part of another is held by the whole.
    """
    columns = IncidentCellRow.condition_key, IncidentCellRow.protocol_key
    whole = func.coalesce(IncidentRow.merged_into, IncidentRow.id)
    listed = session.execute(
        select(*columns, whole)
        .join(IncidentRow, IncidentRow.id == IncidentCellRow.incident_id)
        .where(IncidentCellRow.condition_key.in_(condition_keys))
        .distinct()
        .limit(MOST)
    ).all()
    query = _filtered(IncidentFilter(is_open=True)).where(
        IncidentRow.id.in_({incident_id for _, _, incident_id in listed})
    )
    known = {each.id: each for each in _all(session, query)}
    found = [
        (Cell(condition, protocol), known[incident_id])
        for condition, protocol, incident_id in listed
        if incident_id in known
    ]
    found.sort(key=lambda each: (each[1].opened_at, each[1].id), reverse=True)
    return dict(found)


def cells(
    session: ReadSession, incident_ids: Collection[UUID]
) -> Mapping[UUID, Sequence[IncidentCell]]:
    """Return what some incidents list, the largest change first."""
    columns = (
        IncidentCellRow.incident_id,
        IncidentCellRow.condition_key,
        IncidentCellRow.protocol_key,
        IncidentCellRow.metric,
        IncidentCellRow.change,
        IncidentCellRow.low,
        IncidentCellRow.high,
        IncidentCellRow.session_id,
        IncidentCellRow.run_ids,
    )
    query = select(*columns).where(IncidentCellRow.incident_id.in_(incident_ids))
    found: dict[UUID, list[IncidentCell]] = defaultdict(list)
    rows = session.execute(
        query.order_by(
            func.abs(IncidentCellRow.change).desc(),
            IncidentCellRow.condition_key,
            IncidentCellRow.metric,
        )
    )
    # By place and not by name: incidents list thousands, and that takes a third of the time.
    for incident_id, condition_key, protocol_key, metric, *told, session_id, run_ids in rows:
        change, low, high = told
        cell, runs = Cell(condition_key, protocol_key), tuple(map(UUID, run_ids))
        found[incident_id].append(IncidentCell(cell, metric, change, low, high, session_id, runs))
    return found


def _filtered(wanted: IncidentFilter) -> Select[Any]:
    query = select(IncidentRow.__table__).where(IncidentRow.merged_into.is_(None))
    settled = IncidentRow.triage.in_(sorted(SETTLED)) | IncidentRow.verified_at.is_not(None)
    if wanted.triage is not None:
        query = query.where(IncidentRow.triage == wanted.triage.value)
    if wanted.is_open is not None:
        query = query.where(~settled if wanted.is_open else settled)
    if wanted.owner is not None:
        query = query.where(IncidentRow.owner == wanted.owner)
    if wanted.condition_key is not None:
        listing = select(IncidentCellRow.incident_id).where(
            IncidentCellRow.condition_key == wanted.condition_key
        )
        merged = select(IncidentRow.merged_into).where(IncidentRow.id.in_(listing))
        query = query.where(IncidentRow.id.in_(listing) | IncidentRow.id.in_(merged))
    return query


def _row(incident: Incident) -> dict[str, Any]:
    return {
        "title": incident.title,
        "direction": incident.direction.value,
        "baseline_stack_key": incident.baseline_stack_key,
        "candidate_stack_key": incident.candidate_stack_key,
        "opened_at": incident.opened_at,
        "opened_by": incident.opened_by,
        "seen_at": incident.seen_at,
        "host": incident.host,
        "event_id": incident.event_id,
        "triage": incident.answer.triage.value,
        "owner": incident.answer.owner,
        "due": incident.answer.due,
        "comment": incident.answer.comment,
        "links": list(incident.answer.links),
        "triaged_at": incident.triaged_at,
        "verified_at": incident.verified_at,
        "verified_stack_key": incident.verified_stack_key,
        "merged_into": incident.merged_into,
    }


def _all(session: ReadSession, query: Select[Any]) -> list[Incident]:
    return [
        Incident(
            id=row["id"],
            title=row["title"],
            direction=Direction(row["direction"]),
            baseline_stack_key=row["baseline_stack_key"],
            candidate_stack_key=row["candidate_stack_key"],
            opened_at=row["opened_at"],
            opened_by=row["opened_by"],
            seen_at=row["seen_at"],
            host=row["host"],
            event_id=row["event_id"],
            answer=Answer(
                triage=Triage(row["triage"]),
                owner=row["owner"],
                due=row["due"],
                comment=row["comment"],
                links=tuple(row["links"]),
            ),
            triaged_at=row["triaged_at"],
            verified_at=row["verified_at"],
            verified_stack_key=row["verified_stack_key"],
            merged_into=row["merged_into"],
        )
        for row in session.execute(query).mappings()
    ]
