"""Queries of what single launches gave: a median or all repeats of runs that may be judged."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, and_, select

from service.domain.cell import Cell
from service.store.among import among
from service.store.database import ReadSession
from service.store.samples import unpacked
from service.store.tables import LaunchRow, RunRow, SampleRow, WithdrawalRow

SQUARE = (RunRow.stack_key, RunRow.condition_key, RunRow.protocol_key, RunRow.host)


@dataclass(frozen=True, slots=True)
class LaunchLevel:
    """The median of one metric of one run, and where it was measured."""

    stack_key: str
    cell: Cell
    host: str
    metric: str
    median: float


@dataclass(frozen=True, slots=True)
class LaunchSample:
    """Every repeat of one metric of one run, and where and when it was measured."""

    stack_key: str
    cell: Cell
    host: str
    measured_at: datetime
    values: tuple[float, ...]


def of_stacks(
    session: ReadSession,
    stack_keys: Collection[str],
    *,
    metrics: Collection[str],
    conditions: Collection[str],
    limit: int,
) -> Sequence[LaunchLevel]:
    """Return what the runs of some stacks gave under some conditions that may be judged."""
    told = RunRow.launch_id, SampleRow.metric, SampleRow.median
    query = _judged(told, stack_keys, metrics)
    query = query.where(among(session, RunRow.condition_key, conditions)).limit(limit)
    rows = _undrifted(session, session.execute(query), stack_keys)
    return [LaunchLevel(row[0], Cell(row[1], row[2]), row[3], row[5], row[6]) for row in rows]


def samples_of_stacks(
    session: ReadSession,
    stack_keys: Collection[str],
    *,
    metric: str,
    conditions: Collection[str],
    limit: int,
) -> Sequence[LaunchSample]:
    """Return the newest repeats of some stacks' runs that may be judged, the oldest run first."""
    told = RunRow.launch_id, RunRow.measured_at, SampleRow.packed
    query = _judged(told, stack_keys, [metric])
    query = query.where(among(session, RunRow.condition_key, conditions))
    newest = query.order_by(RunRow.measured_at.desc(), RunRow.id).limit(limit)
    rows = _undrifted(session, session.execute(newest), stack_keys)
    found = [
        LaunchSample(row[0], Cell(row[1], row[2]), row[3], row[5], unpacked(row[6])) for row in rows
    ]
    return found[::-1]


def _judged(
    told: Sequence[Any],
    stack_keys: Collection[str],
    metrics: Collection[str],
) -> Select[Any]:
    """Return a query of what runs and samples tell that may be judged, but for drift."""
    of_metrics = and_(SampleRow.run_id == RunRow.id, SampleRow.metric.in_(sorted(metrics)))
    return (
        select(*SQUARE, *told)
        .join(SampleRow, of_metrics)
        .outerjoin(WithdrawalRow, WithdrawalRow.run_id == RunRow.id)
        .where(RunRow.stack_key.in_(sorted(stack_keys)), RunRow.state == "measured")
        .where(WithdrawalRow.run_id.is_(None))
    )


def _undrifted(
    session: ReadSession, rows: Iterable[Any], stack_keys: Collection[str]
) -> Iterable[Any]:
    """Yield the rows, in each of which a launch stands fifth, without those that drifted."""
    drifted = _drifted(session, stack_keys)
    return (row for row in rows if row[4] not in drifted)


def _drifted(session: ReadSession, stack_keys: Collection[str]) -> Collection[object]:
    """Return the launches that ran another stack than they declared."""
    rows = session.execute(
        select(LaunchRow.id, LaunchRow.drift).where(LaunchRow.stack_key.in_(sorted(stack_keys)))
    )
    return {row[0] for row in rows if row[1]}
