"""Queries that return what cells cost when they were measured before."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from uuid import UUID

from sqlalchemy import Row, func, select

from service.store import samples
from service.store.database import ReadSession
from service.store.tables import LaunchRow, RunRow

# As many of the newest runs of a cell tell what the next one will cost.
NEWEST = 12
# The wall clock of one repeat's load; what lies around it is the run's overhead.
DURATION = "duration"

Spent = Row[
    tuple[
        str,
        UUID,
        UUID | None,
        UUID,
        str,
        list[float],
        datetime,
        datetime,
        float,
        datetime,
        datetime | None,
        int,
    ]
]


@dataclass(frozen=True, slots=True)
class MeasuredCost:
    """What one launch of a cell took: medians, in seconds.

    start_s: all of the launch that is not its cells: the checks, the start-up, the end.
    measure_s: all repeats and what lies around them; repeat_s: one of them. launches: of one
    stack, when the cell was measured last.
    """

    start_s: float
    measure_s: float
    repeat_s: float
    launches: int


def of_conditions(session: ReadSession, keys: Collection[str]) -> Mapping[str, MeasuredCost]:
    """Return what measuring some conditions took; one that nobody measured here is left out."""
    by_key: dict[str, list[Spent]] = defaultdict(list)
    place = func.row_number().over(
        partition_by=RunRow.condition_key, order_by=(RunRow.measured_at.desc(), RunRow.id)
    )
    newest = (
        select(
            RunRow.condition_key,
            RunRow.id,
            RunRow.session_id,
            RunRow.launch_id,
            RunRow.stack_key,
            RunRow.overhead_s,
            RunRow.measured_at,
            RunRow.finished_at,
            LaunchRow.start_up_s,
            LaunchRow.started_at,
            LaunchRow.stopped_at,
            place.label("place"),
        )
        .join(LaunchRow, LaunchRow.id == RunRow.launch_id)
        .where(
            RunRow.condition_key.in_(set(keys)),
            RunRow.state == "measured",
            LaunchRow.start_up_s.is_not(None),
        )
        .subquery()
    )
    for row in session.execute(select(newest).where(newest.c.place <= NEWEST)):
        by_key[row.condition_key].append(row)
    ids = sorted(row.id for rows in by_key.values() for row in rows)
    loads = samples.of_runs(session, ids, metrics={DURATION})
    under_load = _under_load(session, {row.launch_id for rows in by_key.values() for row in rows})
    return {
        key: _cost(sorted(rows, key=lambda row: row.place), loads, under_load)
        for key, rows in by_key.items()
    }


def _under_load(session: ReadSession, launch_ids: Collection[UUID]) -> Mapping[UUID, float]:
    """Return the seconds from the first to the last that was measured in each of some launches."""
    rows = session.execute(
        select(RunRow.launch_id, func.min(RunRow.measured_at), func.max(RunRow.finished_at))
        .where(RunRow.launch_id.in_(sorted(launch_ids)), RunRow.state == "measured")
        .group_by(RunRow.launch_id)
    )
    return {launch_id: (end - begin).total_seconds() for launch_id, begin, end in rows}


def _cost(
    rows: Sequence[Spent],
    loads: Mapping[UUID, Mapping[str, Sequence[float]]],
    under_load: Mapping[UUID, float],
) -> MeasuredCost:
    of_last = Counter(row.stack_key for row in rows if row.session_id == rows[0].session_id)
    measured = [_measured(row, loads[row.id]) for row in rows]
    repeats = [max(len(row.overhead_s), 1) for row in rows]
    return MeasuredCost(
        start_s=median(_start(row, under_load[row.launch_id]) for row in rows),
        measure_s=median(measured),
        repeat_s=median(took / count for took, count in zip(measured, repeats, strict=True)),
        launches=max(of_last.values()),
    )


def _start(row: Spent, under_load_s: float) -> float:
    """Return what a launch took beside its cells; of one that has no end, until it answered."""
    start_up_s: float = row.start_up_s
    if row.stopped_at is None:
        return start_up_s
    whole: float = (row.stopped_at - row.started_at).total_seconds()
    return max(whole - under_load_s, start_up_s)


def _measured(row: Spent, loads: Mapping[str, Sequence[float]]) -> float:
    """Return what all repeats took; by the clock where the tool does not tell how long one was."""
    if DURATION not in loads:
        whole: float = (row.finished_at - row.measured_at).total_seconds()
        return whole
    return sum((*loads[DURATION], *row.overhead_s))
