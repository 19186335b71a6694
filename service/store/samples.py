"""Queries that keep and return samples: all measurements of one metric from one run."""

import struct
from collections.abc import Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import select

from service.store.database import ReadSession, WriteSession
from service.store.inserts import insert_new
from service.store.tables import SampleRow

# Of one float64 in hex.
HEX_DIGITS = 16
# As many run ids as one statement names at most.
BATCH = 500


def packed(values: Sequence[float]) -> bytes:
    """Return numbers as little-endian float64, one after the other."""
    return struct.pack(f"<{len(values)}d", *values)


def unpacked(content: bytes) -> tuple[float, ...]:
    """Return the numbers that packed() was given, bit for bit."""
    return struct.unpack(f"<{len(content) // 8}d", content)


def keep(session: WriteSession, run_id: UUID, values: Mapping[str, Sequence[float]]) -> None:
    """Store the samples of a new run. values: one number a repeat, by metric name."""
    keep_all(session, {run_id: values})


def keep_all(session: WriteSession, values: Mapping[UUID, Mapping[str, Sequence[float]]]) -> None:
    """Store the samples of many new runs in one call. values: by run, then by metric name."""
    rows = [
        {"run_id": run_id, "packed": packed(sample), **_told(metric, sample)}
        for run_id, of_run in values.items()
        for metric, sample in of_run.items()
    ]
    insert_new(session, SampleRow, rows)


def told(run_id: UUID, values: Mapping[str, Sequence[float]]) -> Sequence[Mapping[str, Any]]:
    """Return the samples of a run as JSON can hold them: their numbers packed, and that in hex."""
    every = packed([value for sample in values.values() for value in sample]).hex()
    rows = []
    begin = 0
    for metric, sample in values.items():
        row = _told(metric, sample)
        end = begin + HEX_DIGITS * len(sample)
        row["run_id"], row["packed"] = run_id, every[begin:end]
        rows.append(row)
        begin = end
    return rows


def _told(metric: str, sample: Sequence[float]) -> dict[str, Any]:
    ordered = sorted(sample)
    upper, odd = divmod(len(ordered), 2)
    # statistics.median would sort again, thirty times a run.
    middle = ordered[upper] if odd else ordered[upper - 1] / 2 + ordered[upper] / 2
    return {
        "metric": metric,
        "count": len(ordered),
        "median": middle,
        "min": ordered[0],
        "max": ordered[-1],
    }


def of_runs(
    session: ReadSession, run_ids: Sequence[UUID], *, metrics: Collection[str] | None = None
) -> Mapping[UUID, Mapping[str, tuple[float, ...]]]:
    """Return the samples of some runs, of some metrics or of all, by run and metric."""
    found: dict[UUID, dict[str, tuple[float, ...]]] = {run_id: {} for run_id in run_ids}
    for start in range(0, len(run_ids), BATCH):
        query = select(SampleRow.run_id, SampleRow.metric, SampleRow.packed).where(
            SampleRow.run_id.in_(run_ids[start : start + BATCH])
        )
        if metrics is not None:
            query = query.where(SampleRow.metric.in_(metrics))
        for row in session.execute(query.order_by(SampleRow.metric)):
            found[row.run_id][row.metric] = unpacked(row.packed)
    return found


def medians(session: ReadSession, run_ids: Sequence[UUID]) -> Mapping[UUID, Mapping[str, float]]:
    """Return the median of each sample of some runs, by run and metric."""
    found: dict[UUID, dict[str, float]] = {run_id: {} for run_id in run_ids}
    for start in range(0, len(run_ids), BATCH):
        rows = session.execute(
            select(SampleRow.run_id, SampleRow.metric, SampleRow.median)
            .where(SampleRow.run_id.in_(run_ids[start : start + BATCH]))
            .order_by(SampleRow.metric)
        )
        for row in rows:
            found[row.run_id][row.metric] = row.median
    return found
