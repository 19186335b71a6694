"""Queries that keep and return events: what the screen saw, one per cause."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import RowMapping, Select, and_, delete, exists, or_, select, tuple_, update
from sqlalchemy.orm import aliased

from service.domain.cell import Cell
from service.store.database import ReadSession, WriteSession
from service.store.inserts import insert_absent
from service.store.series import SeriesKey
from service.store.tables import EventRow, MovedRow

# As many looks or events as one statement names at most.
BATCH = 500
MOVED = (
    MovedRow.event_id,
    MovedRow.condition_key,
    MovedRow.protocol_key,
    MovedRow.metric,
    MovedRow.host,
    MovedRow.change,
    MovedRow.evidence,
    MovedRow.look,
)


@dataclass(frozen=True, slots=True)
class StoredMoved:
    """A series that an event lists; see MovedRow."""

    event_id: UUID
    series: SeriesKey
    change: float
    evidence: float
    look: int


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event as it was seen on one host; see EventRow."""

    id: UUID
    host: str
    is_host: bool
    part_of: UUID | None
    worse: bool
    trigger: str
    metric: str | None
    change: float | None
    measured: int
    presumed: Sequence[Sequence[str]]
    change_look: int
    change_stack_key: str
    before_stack_key: str | None
    seen_look: int
    seen_at: datetime


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which events are asked for; None leaves a field open. since: seen then or later."""

    host: str | None = None
    condition_key: str | None = None
    since: datetime | None = None


class UnknownEventError(LookupError):
    """No event has that id."""

    def __init__(self, event_id: UUID) -> None:
        super().__init__(
            f"no event {event_id}; one may be gone because runs were withdrawn since it was seen"
        )


def keep(
    session: WriteSession, events: Sequence[StoredEvent], moved: Sequence[StoredMoved]
) -> None:
    """Store events and series listed in them that are not stored yet."""
    insert_absent(session, EventRow, [_row(each) for each in events])
    insert_absent(
        session,
        MovedRow,
        [
            {
                "event_id": each.event_id,
                "condition_key": each.series.cell.condition_key,
                "protocol_key": each.series.cell.protocol_key,
                "metric": each.series.metric,
                "host": each.series.host,
                "change": each.change,
                "evidence": each.evidence,
                "look": each.look,
            }
            for each in moved
        ],
    )


def forget(session: WriteSession, event_ids: Collection[UUID]) -> None:
    """Delete events, which are told anew from the runs."""
    for of in (MovedRow.event_id, EventRow.id):
        session.execute(
            delete(of.class_).where(of.in_(event_ids)).execution_options(synchronize_session=False)
        )


def part(session: WriteSession, parts: Mapping[UUID, UUID | None]) -> None:
    """Say of some events which event they are part of, or that they stand alone."""
    for event_id, whole in parts.items():
        session.execute(
            update(EventRow)
            .where(EventRow.id == event_id)
            .values(part_of=whole)
            .execution_options(synchronize_session=False)
        )


def name_hosts(session: WriteSession, names: Mapping[UUID, bool]) -> None:
    """Say of some events whether the host is what moved."""
    for event_id, is_host in names.items():
        session.execute(
            update(EventRow)
            .where(EventRow.id == event_id)
            .values(is_host=is_host)
            .execution_options(synchronize_session=False)
        )


def read(session: ReadSession, event_id: UUID) -> StoredEvent:
    """Return one event. Raises UnknownEventError."""
    found = _all(session, select(EventRow.__table__).where(EventRow.id == event_id))
    if not found:
        raise UnknownEventError(event_id)
    return found[0]


def of_looks(session: ReadSession, numbers: Collection[int]) -> Sequence[StoredEvent]:
    """Return the events that some looks showed, in order."""
    wanted = sorted(set(numbers))
    found: list[StoredEvent] = []
    for begin in range(0, len(wanted), BATCH):
        some = EventRow.seen_look.in_(wanted[begin : begin + BATCH])
        found += _all(session, select(EventRow.__table__).where(some))
    return sorted(found, key=lambda each: (each.seen_look, each.id))


def like(session: ReadSession, event: StoredEvent) -> StoredEvent | None:
    """Return the first event of another host with the same change of stack and direction."""
    query = select(EventRow.__table__).where(
        EventRow.change_stack_key == event.change_stack_key,
        EventRow.before_stack_key != event.change_stack_key,
        EventRow.worse == event.worse,
        EventRow.host != event.host,
        EventRow.part_of.is_(None),
    )
    found = _all(session, query.order_by(EventRow.seen_at, EventRow.id).limit(1))
    return found[0] if found else None


def parts(session: ReadSession, event_ids: Collection[UUID]) -> Sequence[StoredEvent]:
    """Return the events that are part of some events, oldest first."""
    query = select(EventRow.__table__).where(EventRow.part_of.in_(event_ids))
    return _all(session, query.order_by(EventRow.seen_at, EventRow.id))


def newest(
    session: ReadSession,
    wanted: EventFilter,
    *,
    before: tuple[datetime, UUID] | None = None,
    limit: int,
) -> Sequence[StoredEvent]:
    """Return events that stand alone, the newest seen first; before: the last of a page."""
    query = select(EventRow.__table__).where(EventRow.part_of.is_(None))
    query = query.order_by(EventRow.seen_at.desc(), EventRow.id.desc()).limit(limit)
    if wanted.host is not None:
        query = query.where(_of_host(wanted.host))
    if wanted.condition_key is not None:
        query = query.where(_of_condition(wanted.condition_key))
    if wanted.since is not None:
        query = query.where(EventRow.seen_at >= wanted.since)
    if before is not None:
        query = query.where(tuple_(EventRow.seen_at, EventRow.id) < before)
    return _all(session, query)


def moved(session: ReadSession, event_ids: Collection[UUID]) -> Sequence[StoredMoved]:
    """Return the series that some events list, the strongest first."""
    wanted = sorted(event_ids)
    found: list[StoredMoved] = []
    for begin in range(0, len(wanted), BATCH):
        some = MovedRow.event_id.in_(wanted[begin : begin + BATCH])
        found += [_moved(*row) for row in session.execute(select(*MOVED).where(some))]
    return sorted(found, key=lambda each: -each.evidence)


def of_series(
    session: ReadSession, series: SeriesKey, *, limit: int
) -> Sequence[tuple[StoredMoved, StoredEvent]]:
    """Return what moved a series, on its host or on all, the newest first."""
    query = (
        select(*MOVED)
        .join(EventRow, EventRow.id == MovedRow.event_id)
        .where(
            MovedRow.condition_key == series.cell.condition_key,
            MovedRow.protocol_key == series.cell.protocol_key,
            MovedRow.metric == series.metric,
        )
    )
    if series.host is not None:
        query = query.where(MovedRow.host == series.host)
    rows = session.execute(query.order_by(EventRow.seen_at.desc(), EventRow.id).limit(limit))
    found = [_moved(*row) for row in rows]
    whole = {each.id: each for each in _by_id(session, {each.event_id for each in found})}
    return [(each, whole[each.event_id]) for each in found]


def _by_id(session: ReadSession, event_ids: Collection[UUID]) -> Sequence[StoredEvent]:
    return _all(session, select(EventRow.__table__).where(EventRow.id.in_(event_ids)))


def _of_host(host: str) -> Any:
    part_row = aliased(EventRow)
    of_part = exists().where(part_row.part_of == EventRow.id, part_row.host == host)
    return or_(EventRow.host == host, of_part)


def _of_condition(key: str) -> Any:
    part_row = aliased(EventRow)
    of_it = and_(MovedRow.event_id == EventRow.id, MovedRow.condition_key == key)
    of_part = and_(
        part_row.part_of == EventRow.id,
        MovedRow.event_id == part_row.id,
        MovedRow.condition_key == key,
    )
    return or_(exists().where(of_it), exists().where(of_part))


def _row(event: StoredEvent) -> dict[str, Any]:
    row = {name.name: getattr(event, name.name) for name in fields(StoredEvent)}
    return row | {"presumed": [list(each) for each in event.presumed]}


def _all(session: ReadSession, query: Select[Any]) -> list[StoredEvent]:
    return [_stored(row) for row in session.execute(query).mappings()]


def _stored(row: RowMapping) -> StoredEvent:
    return StoredEvent(**{name.name: row[name.name] for name in fields(StoredEvent)})


def _moved(event_id: UUID, condition_key: str, protocol_key: str, *told: Any) -> StoredMoved:
    """Return a series from the columns of MOVED; by place, for a page lists thousands."""
    metric, host, change, evidence, look = told
    series = SeriesKey(Cell(condition_key, protocol_key), metric, host)
    return StoredMoved(event_id, series, change, evidence, look)
