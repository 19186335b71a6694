"""Queries that keep, change and return confirms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Select, case, func, insert, select, tuple_, update

from service.domain.confirm import Cost, Ending, State
from service.domain.incident import Direction
from service.domain.verdict import Outcome
from service.store.database import ReadSession, WriteSession
from service.store.tables import ConfirmRow, EventRow, IncidentRow

# As many confirms of one event or incident as are read.
MOST = 100


@dataclass(frozen=True, slots=True)
class StoredConfirm:
    """A confirm as it lies in the database; see ConfirmRow."""

    id: UUID
    event_id: UUID
    host: str
    direction: Direction
    baseline_stack_key: str
    candidate_stack_key: str
    asked_by: str
    asked_at: datetime
    why: str
    changed_at: datetime
    content: Mapping[str, Any]
    reason: str = ""
    state: State = State.WAITING
    looks: Sequence[Mapping[str, Any]] = ()
    session_id: UUID | None = None
    incident_id: UUID | None = None
    outcome: Outcome | None = None
    ended_by: Ending | None = None
    planned_launches: int = 0
    planned_card_s: float = 0.0
    launches: int = 0
    card_s: float = 0.0
    started_at: datetime | None = None
    ended_at: datetime | None = None

    @property
    def spent(self) -> Cost:
        """What it has cost so far."""
        return Cost(self.launches, self.card_s)

    def costing(self, spent: Cost) -> "StoredConfirm":
        """Return it with another cost so far."""
        return replace(self, launches=spent.launches, card_s=spent.card_s)


@dataclass(frozen=True, slots=True)
class ConfirmFilter:
    """Which confirms are asked for; None leaves a field open."""

    event_id: UUID | None = None
    incident_id: UUID | None = None
    state: State | None = None


class UnknownConfirmError(LookupError):
    """No confirm has that id."""

    def __init__(self, confirm_id: UUID) -> None:
        super().__init__(f"no confirm {confirm_id}; `kunline confirm list` shows them")


def hold(session: WriteSession) -> None:
    """Let nobody else begin a confirm until this session ends: they share one budget."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(select(func.pg_advisory_xact_lock(func.hashtextextended("confirms", 0))))


def keep(session: WriteSession, new: StoredConfirm) -> None:
    """Store a new confirm."""
    session.execute(insert(ConfirmRow).values(**_row(new)))


def change(session: WriteSession, confirm: StoredConfirm) -> None:
    """Store what a confirm has become."""
    session.execute(
        update(ConfirmRow)
        .where(ConfirmRow.id == confirm.id)
        .values(**_row(confirm))
        .execution_options(synchronize_session=False)
    )


def read(session: ReadSession, confirm_id: UUID) -> StoredConfirm:
    """Return one confirm. Raises UnknownConfirmError."""
    found = _all(session, _columns().where(ConfirmRow.id == confirm_id))
    if not found:
        raise UnknownConfirmError(confirm_id)
    return found[0]


def locked(session: WriteSession, confirm_id: UUID) -> StoredConfirm:
    """Return one that nobody else changes until this session ends. Raises UnknownConfirmError."""
    found = _all(session, _columns().where(ConfirmRow.id == confirm_id).with_for_update())
    if not found:
        raise UnknownConfirmError(confirm_id)
    return found[0]


def of_session(session: ReadSession, session_id: UUID) -> UUID | None:
    """Return the id of the confirm whose session it is, or None."""
    return session.scalar(select(ConfirmRow.id).where(ConfirmRow.session_id == session_id))


def of_event(session: ReadSession, event_id: UUID) -> Sequence[StoredConfirm]:
    """Return the confirms of an event, the newest asked first."""
    return newest(session, ConfirmFilter(event_id=event_id), limit=MOST)


def of_state(session: ReadSession, state: State, *, limit: int) -> Sequence[StoredConfirm]:
    """Return confirms in a state, those not looked after for longest first."""
    query = _columns().where(ConfirmRow.state == state.value)
    return _all(session, query.order_by(ConfirmRow.changed_at, ConfirmRow.id).limit(limit))


def newest(
    session: ReadSession,
    wanted: ConfirmFilter,
    *,
    before: tuple[datetime, UUID] | None = None,
    limit: int,
) -> Sequence[StoredConfirm]:
    """Return confirms, the newest asked first; before: the last of a page."""
    query = _columns()
    for column, value in (
        (ConfirmRow.event_id, wanted.event_id),
        (ConfirmRow.incident_id, wanted.incident_id),
        (ConfirmRow.state, wanted.state),
    ):
        if value is not None:
            query = query.where(column == value)
    if before is not None:
        query = query.where(tuple_(ConfirmRow.asked_at, ConfirmRow.id) < before)
    ordered = query.order_by(ConfirmRow.asked_at.desc(), ConfirmRow.id.desc())
    return _all(session, ordered.limit(limit))


def spent(session: ReadSession, *, since: datetime, without: UUID | None = None) -> Cost:
    """Return what confirms begun since then cost; one that runs counts with all it may cost."""
    launches = _at_least(ConfirmRow.planned_launches, ConfirmRow.launches)
    card_s = _at_least(ConfirmRow.planned_card_s, ConfirmRow.card_s)
    query = select(func.sum(launches), func.sum(card_s)).where(ConfirmRow.started_at >= since)
    if without is not None:
        query = query.where(ConfirmRow.id != without)
    row = session.execute(query).one()
    return Cost(int(row[0] or 0), float(row[1] or 0.0))


def counts(session: ReadSession) -> Mapping[str, int]:
    """Return how many confirms wait, run, or ended with which word."""
    word = func.coalesce(ConfirmRow.outcome, ConfirmRow.state)
    rows = session.execute(select(word, func.count()).group_by(word))
    return {row[0]: row[1] for row in rows}


def unasked(session: ReadSession, *, since: datetime, limit: int) -> Sequence[UUID]:
    """Return the events for the worse, seen since then, that nobody has looked into.

    Neither a confirm nor an incident is of them; those with the largest change come first.
    """
    query = select(EventRow.id).where(
        EventRow.seen_at >= since,
        EventRow.part_of.is_(None),
        EventRow.worse.is_(True),
        EventRow.before_stack_key.is_not(None),
        ~select(ConfirmRow.id).where(ConfirmRow.event_id == EventRow.id).exists(),
        ~select(IncidentRow.id).where(IncidentRow.event_id == EventRow.id).exists(),
    )
    largest = query.order_by(func.coalesce(EventRow.change, 0.0).desc(), EventRow.id)
    return session.scalars(largest.limit(limit)).all()


def _at_least(planned: Any, so_far: Any) -> ColumnElement[Any]:
    """Return the planned cost of one that runs where it is more, else what it has cost."""
    running = (ConfirmRow.state == State.RUNNING.value) & (planned > so_far)
    return case((running, planned), else_=so_far)


def _columns() -> Select[Any]:
    return select(ConfirmRow.__table__)


def _row(confirm: StoredConfirm) -> dict[str, Any]:
    row = {field.name: getattr(confirm, field.name) for field in fields(confirm)}
    return {**row, "content": dict(confirm.content), "looks": list(map(dict, confirm.looks))}


def _all(session: ReadSession, query: Select[Any]) -> Sequence[StoredConfirm]:
    return [_stored(row) for row in session.execute(query).mappings()]


def _stored(row: Mapping[Any, Any]) -> StoredConfirm:
    found = {field.name: row[field.name] for field in fields(StoredConfirm)}
    found |= {
        "direction": Direction(row["direction"]),
        "state": State(row["state"]),
        "outcome": None if row["outcome"] is None else Outcome(row["outcome"]),
        "ended_by": None if row["ended_by"] is None else Ending(row["ended_by"]),
    }
    return StoredConfirm(**found)
