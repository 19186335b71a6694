"""Queries that keep and return samples: all measurements of one metric from one run."""

import json
import struct
from collections.abc import Collection, Mapping, Sequence
from statistics import median
from typing import Any
from uuid import UUID

from sqlalchemy import select, text

from service.store.database import ReadSession, WriteSession
from service.store.inserts import insert_new
from service.store.tables import SampleRow

# As many run ids as one statement names at most.
BATCH = 500

# PostgreSQL takes thirty rows as one statement in a tenth of the time that thirty take.
ALL_AT_ONCE = text("""
    INSERT INTO sample (run_id, metric, packed, count, median, min, max)
    SELECT run_id, metric, decode(packed, 'hex'), count, median, min, max
    FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS sent(
        run_id uuid, metric text, packed text, count int, median float8, min float8, max float8
    )
""")


def packed(values: Sequence[float]) -> bytes:
    """Return numbers as little-endian float64, one after the other."""
    return struct.pack(f"<{len(values)}d", *values)


def unpacked(content: bytes) -> tuple[float, ...]:
    """Return the numbers that packed() was given, bit for bit."""
    return struct.unpack(f"<{len(content) // 8}d", content)


def keep(session: WriteSession, run_id: UUID, values: Mapping[str, Sequence[float]]) -> None:
    """Store the samples of a new run. values: one number a repeat, by metric name."""
    rows = [sample_row(run_id, metric, sample) for metric, sample in values.items()]
    connection = session.connection()
    if rows and connection.dialect.name == "postgresql":
        connection.execute(ALL_AT_ONCE, {"rows": document(rows)})
    elif rows:
        insert_new(session, SampleRow, rows)


def sample_row(run_id: UUID, metric: str, sample: Sequence[float]) -> dict[str, Any]:
    """Return a sample as its row."""
    ordered = sorted(sample)
    return {
        "run_id": run_id,
        "metric": metric,
        "packed": packed(sample),
        "count": len(sample),
        "median": median(ordered),
        "min": ordered[0],
        "max": ordered[-1],
    }


def document(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as the one text that ALL_AT_ONCE takes apart; floats come back bit for bit."""
    return json.dumps(
        [{**row, "run_id": str(row["run_id"]), "packed": row["packed"].hex()} for row in rows]
    )


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
