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

Spent = Row[tuple[str, UUID, UUID | None, str, list[float], datetime, datetime, float, int]]


@dataclass(frozen=True, slots=True)
class MeasuredCost:
    """What one launch of a cell took: medians, in seconds.

    start_s: until the server answered. measure_s: all repeats and what lies around them.
    launches: of one stack, when the cell was measured last.
    """

    start_s: float
    measure_s: float
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
            RunRow.stack_key,
            RunRow.overhead_s,
            RunRow.measured_at,
            RunRow.finished_at,
            LaunchRow.start_up_s,
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
    return {
        key: _cost(sorted(rows, key=lambda row: row.place), loads) for key, rows in by_key.items()
    }


def _cost(
    rows: Sequence[Spent], loads: Mapping[UUID, Mapping[str, Sequence[float]]]
) -> MeasuredCost:
    of_last = Counter(row.stack_key for row in rows if row.session_id == rows[0].session_id)
    return MeasuredCost(
        start_s=median(row.start_up_s for row in rows),
        measure_s=median(_measured(row, loads[row.id]) for row in rows),
        launches=max(of_last.values()),
    )


def _measured(row: Spent, loads: Mapping[str, Sequence[float]]) -> float:
    """Return what all repeats took; by the clock where the tool does not tell how long one was."""
    if DURATION not in loads:
        whole: float = (row.finished_at - row.measured_at).total_seconds()
        return whole
    return sum((*loads[DURATION], *row.overhead_s))
