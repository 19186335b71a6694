"""Queries of a series: the runs of one cell and metric, in the order their stacks were built."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, func, select, tuple_

from service.domain.cell import Cell
from service.store.database import ReadSession
from service.store.samples import unpacked
from service.store.tables import LaunchRow, RunRow, SampleRow, StackRow, WithdrawalRow

ORDER = (StackRow.built_at, RunRow.stack_key, RunRow.measured_at, RunRow.id)


@dataclass(frozen=True, slots=True)
class SeriesKey:
    """Whose series: a metric of a cell, on one host or on all."""

    cell: Cell
    metric: str
    host: str | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a series a run stands; runs are in the order of these fields."""

    built_at: date
    stack_key: str
    measured_at: datetime
    run_id: UUID


@dataclass(frozen=True, slots=True)
class SeriesRun:
    """A run as a series needs it. median, min, max: None where it has no value of the metric."""

    id: UUID
    launch_id: UUID
    session_id: UUID | None
    stack_key: str
    built_at: date
    host: str
    state: str
    measured_at: datetime
    is_drifted: bool
    is_imported: bool
    is_withdrawn: bool
    median: float | None
    min: float | None
    max: float | None
    repeats: Sequence[float] = ()

    @property
    def may_be_judged(self) -> bool:
        """Whether anything may be concluded from it; see StoredRun."""
        return self.state == "measured" and not self.is_drifted and not self.is_withdrawn

    @property
    def place(self) -> Place:
        """Where it stands in its series."""
        return Place(self.built_at, self.stack_key, self.measured_at, self.id)


@dataclass(frozen=True, slots=True)
class OfStack:
    """How much of a series is of one stack: another one once a run came, or counts otherwise.

    runs: how many by host. launches, withdrawn: counts of what may make a run count otherwise.
    """

    runs: Mapping[str, int]
    launches: tuple[object, ...]
    withdrawn: tuple[object, ...]

    @property
    def total(self) -> int:
        """How many runs it has."""
        return sum(self.runs.values())

    @property
    def told(self) -> tuple[object, ...]:
        """All of it as a name."""
        return (*self.runs.items(), self.launches, self.withdrawn)


def newest(
    session: ReadSession, key: SeriesKey, *, before: Place | None = None, limit: int
) -> Sequence[SeriesRun]:
    """Return the last runs of a series, or the last before a place, in order, with repeats."""
    joined = select(RunRow.id).join(StackRow, StackRow.key == RunRow.stack_key)
    last = joined.where(*_within(key))
    if before is not None:
        place = (before.built_at, before.stack_key, before.measured_at, before.run_id)
        last = last.where(tuple_(*ORDER) < place)
    # Whatever else is told of a run is looked up for those few alone.
    last = last.order_by(*(column.desc() for column in ORDER)).limit(limit)
    query = _runs(key).add_columns(SampleRow.packed).where(RunRow.id.in_(last))
    # Put in order here, for the database would join them in that order, and take longer.
    return sorted(_all(session, query), key=_order)


def of_stacks(
    session: ReadSession, key: SeriesKey, stack_keys: Collection[str], *, limit: int
) -> Sequence[SeriesRun]:
    """Return the runs of some stacks in a series, in order, without repeats."""
    query = _runs(key).where(RunRow.stack_key.in_(stack_keys))
    return _all(session, query.order_by(*ORDER).limit(limit))


def by_stack(session: ReadSession, key: SeriesKey) -> Mapping[str, OfStack]:
    """Return how much of a series each stack has, in the order of their keys."""
    stack, host = RunRow.stack_key, RunRow.host
    counted = select(stack, host, func.count()).where(*_within(key))
    found: dict[str, dict[str, int]] = {}
    for row in session.execute(counted.group_by(stack, host).order_by(stack, host)):
        found.setdefault(row[0], {})[row[1]] = row[2]
    stopped = LaunchRow.stopped_at
    ended = (
        select(LaunchRow.stack_key, func.count(), func.count(stopped), func.max(stopped))
        .where(LaunchRow.stack_key.in_(list(found)))
        .group_by(LaunchRow.stack_key)
    )
    taken = (
        select(stack, func.count(), func.max(WithdrawalRow.withdrawn_at))
        .join(WithdrawalRow, WithdrawalRow.run_id == RunRow.id)
        .where(*_within(key))
        .group_by(stack)
    )
    launches = {row[0]: tuple(row[1:]) for row in session.execute(ended)}
    withdrawn = {row[0]: tuple(row[1:]) for row in session.execute(taken)}
    return {
        each: OfStack(runs, launches.get(each, ()), withdrawn.get(each, ()))
        for each, runs in found.items()
    }


def of_stack(
    session: ReadSession, key: SeriesKey, stack_key: str, *, limit: int
) -> Sequence[SeriesRun]:
    """Return the runs of one stack in a series, the newest measured first, without repeats."""
    query = _runs(key).where(RunRow.stack_key == stack_key)
    return _all(session, query.order_by(RunRow.measured_at.desc(), RunRow.id).limit(limit))


def counts(session: ReadSession, cell: Cell) -> Mapping[str, int]:
    """Return how many runs of a cell each host has."""
    rows = session.execute(
        select(RunRow.host, func.count())
        .where(RunRow.condition_key == cell.condition_key)
        .where(RunRow.protocol_key == cell.protocol_key)
        .group_by(RunRow.host)
        .order_by(RunRow.host)
    )
    return {row[0]: row[1] for row in rows}


def _runs(key: SeriesKey) -> Select[Any]:
    of_metric = and_(SampleRow.run_id == RunRow.id, SampleRow.metric == key.metric)
    query = (
        select(
            RunRow.id,
            RunRow.launch_id,
            RunRow.session_id,
            RunRow.job_id,
            RunRow.stack_key,
            StackRow.built_at,
            RunRow.host,
            RunRow.state,
            RunRow.measured_at,
            LaunchRow.drift,
            WithdrawalRow.withdrawn_at,
            SampleRow.median,
            SampleRow.min,
            SampleRow.max,
        )
        .join(StackRow, StackRow.key == RunRow.stack_key)
        .outerjoin(SampleRow, of_metric)
        .outerjoin(LaunchRow, LaunchRow.id == RunRow.launch_id)
        .outerjoin(WithdrawalRow, WithdrawalRow.run_id == RunRow.id)
    )
    return query.where(*_within(key))


def _order(run: SeriesRun) -> tuple[date, str, datetime, UUID]:
    return run.built_at, run.stack_key, run.measured_at, run.id


def _within(key: SeriesKey) -> Sequence[ColumnElement[bool]]:
    found = [
        RunRow.condition_key == key.cell.condition_key,
        RunRow.protocol_key == key.cell.protocol_key,
    ]
    return found if key.host is None else [*found, RunRow.host == key.host]


def _all(session: ReadSession, query: Select[Any]) -> list[SeriesRun]:
    return [_run(*row) for row in session.execute(query)]


def _run(*row: Any) -> SeriesRun:
    """Return a run from the columns of _runs(), and its packed repeats where they are asked for.

    By place and not by name, for a whole series has very many.
    """
    run_id, launch_id, session_id, job_id, stack_key, built_at, host, state, *rest = row
    measured_at, drift, withdrawn_at, median, low, high, *packed = rest
    return SeriesRun(
        id=run_id,
        launch_id=launch_id,
        session_id=session_id,
        stack_key=stack_key,
        built_at=built_at,
        host=host,
        state=state,
        measured_at=measured_at,
        is_drifted=bool(drift),
        is_imported=job_id is None,
        is_withdrawn=withdrawn_at is not None,
        median=median,
        min=low,
        max=high,
        repeats=unpacked(packed[0]) if packed and packed[0] is not None else (),
    )
