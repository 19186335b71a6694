"""Queries of what single launches gave: a median a run and metric, of runs that may be judged."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import select

from service.domain.cell import Cell
from service.store.database import ReadSession
from service.store.tables import LaunchRow, RunRow, SampleRow, WithdrawalRow


@dataclass(frozen=True, slots=True)
class LaunchLevel:
    """The median of one metric of one run, and where it was measured."""

    stack_key: str
    cell: Cell
    host: str
    metric: str
    median: float


def of_stacks(
    session: ReadSession,
    stack_keys: Collection[str],
    *,
    metrics: Collection[str],
    host: str | None,
    limit: int,
) -> Sequence[LaunchLevel]:
    """Return what the runs of some stacks gave that may be judged, on a host or on any."""
    square = (RunRow.stack_key, RunRow.condition_key, RunRow.protocol_key, RunRow.host)
    query = (
        select(*square, RunRow.launch_id, SampleRow.metric, SampleRow.median)
        .join(SampleRow, SampleRow.run_id == RunRow.id)
        .outerjoin(WithdrawalRow, WithdrawalRow.run_id == RunRow.id)
        .where(RunRow.stack_key.in_(stack_keys), RunRow.state == "measured")
        .where(SampleRow.metric.in_(metrics), WithdrawalRow.run_id.is_(None))
        .limit(limit)
    )
    if host is not None:
        query = query.where(RunRow.host == host)
    drifted = _drifted(session, stack_keys)
    return [
        LaunchLevel(row[0], Cell(row[1], row[2]), row[3], row[5], row[6])
        for row in session.execute(query)
        if row[4] not in drifted
    ]


def _drifted(session: ReadSession, stack_keys: Collection[str]) -> Collection[object]:
    """Return the launches that ran another stack than they declared."""
    rows = session.execute(
        select(LaunchRow.id, LaunchRow.drift).where(LaunchRow.stack_key.in_(stack_keys))
    )
    return {row[0] for row in rows if row[1]}
