"""Queries that store a reported run with all that belongs to it: samples and artefacts."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any
from uuid import UUID

import orjson
import psycopg
from sqlalchemy import Dialect, Engine, bindparam, text
from sqlalchemy.types import LargeBinary

from service.domain.cell import Cell
from service.store import artefacts, jobs, runs, samples
from service.store.artefacts import Content, Files, Held
from service.store.database import WriteSession
from service.store.runs import NewRun

# PostgreSQL takes whole runs in one statement: what that saves is less the database's time than
# ours, which is spent a statement at a time. Foreign keys are looked at when it ends. Contents go
# in in one order for all writers, so that two with the same texts never wait in a ring.
ALL_AT_ONCE = text("""
    WITH sent AS (SELECT CAST(:sent AS jsonb) AS told),
    stored AS (
        INSERT INTO run (
            id, session_id, job_id, launch_id, condition_key, protocol_key, stack_key, host,
            state, measured_at, finished_at, stored_at, seeds, overhead_s, findings, broken
        )
        SELECT
            said.id, job.session_id, job.id, said.launch_id, said.condition_key,
            said.protocol_key, job.stack_key, job.host, said.state, said.measured_at,
            said.finished_at, said.stored_at, said.seeds, said.overhead_s, said.findings,
            said.broken
        FROM sent, jsonb_to_recordset(told -> 'runs') AS said(
            id uuid, job_id uuid, fencing_token numeric, launch_id uuid, condition_key text,
            protocol_key text, state text, measured_at timestamptz, finished_at timestamptz,
            stored_at timestamptz, seeds jsonb, overhead_s jsonb, findings jsonb, broken jsonb
        )
        JOIN job ON job.id = said.job_id AND job.fencing_token = said.fencing_token
        WHERE job.launch -> 'cells' @> jsonb_build_array(jsonb_build_object(
            'condition_key', said.condition_key, 'protocol_key', said.protocol_key
        ))
        ON CONFLICT DO NOTHING RETURNING id, stored_at
    ),
    sampled AS (
        INSERT INTO sample (run_id, metric, packed, count, median, min, max)
        SELECT id, metric, decode(packed, 'hex'), count, median, min, max
        FROM sent, jsonb_to_recordset(told -> 'samples') AS said(
            run_id uuid, metric text, packed text, count int, median float8, min float8, max float8
        )
        JOIN stored ON stored.id = said.run_id
    ),
    kept AS (
        INSERT INTO artefact (digest, size_bytes, zstd, stored_at)
        SELECT
            digest, size_bytes, substring(CAST(:bytes AS bytea) FROM begins FOR length), stored_at
        FROM sent, jsonb_to_recordset(told -> 'contents') AS said(
            run_id uuid, digest text, size_bytes int, begins int, length int
        )
        JOIN stored ON stored.id = said.run_id
        ORDER BY digest
        ON CONFLICT DO NOTHING
    ),
    held AS (
        INSERT INTO held_artefact (holder_id, name, digest, media_type)
        SELECT id, name, digest, media_type
        FROM sent, jsonb_to_recordset(told -> 'held') AS said(
            run_id uuid, name text, digest text, media_type text
        )
        JOIN stored ON stored.id = said.run_id
        ON CONFLICT DO NOTHING
    )
    SELECT id FROM stored
""").bindparams(bindparam("bytes", type_=LargeBinary()))


@dataclass(frozen=True, slots=True)
class ToldRun:
    """A run as its report tells it; whose it is stands in the row of its job."""

    id: UUID
    job_id: UUID
    fencing_token: int
    launch_id: UUID
    condition_key: str
    protocol_key: str
    state: str
    measured_at: datetime
    finished_at: datetime
    stored_at: datetime
    seeds: list[int]
    overhead_s: list[float]
    findings: list[Mapping[str, Any]]
    broken: Mapping[str, Any] | None


NAMES = tuple(field.name for field in fields(ToldRun))


@dataclass(frozen=True, slots=True)
class WholeRun:
    """A run, its samples by metric name, its artefacts' contents and what they are called."""

    run: ToldRun
    values: Mapping[str, Sequence[float]]
    contents: Sequence[Content]
    held: Sequence[Held]


def keep(session: WriteSession, files: Files, wholes: Sequence[WholeRun]) -> frozenset[UUID]:
    """Store runs of different ids, each whole or not at all, and return the ids of those stored.

    A run is not stored when its id or its job's cell is taken, when the fencing token is not the
    job's, when the job has no such cell, and when there is no such job.
    """
    for whole in wholes:
        artefacts.write_large(files, whole.contents)
    connection = session.connection()
    if connection.dialect.name == "postgresql":
        return frozenset(connection.scalars(ALL_AT_ONCE, parameters(wholes)))
    return frozenset(whole.run.id for whole in wholes if _kept_apart(session, files, whole))


def keep_at_once(engine: Engine, files: Files, wholes: Sequence[WholeRun]) -> frozenset[UUID]:
    """Store what keep() would store in a transaction of its own, and return the ids of it.

    On PostgreSQL alone, and past SQLAlchemy, whose part of one statement costs as much as all else
    that a process does for it. Where the statement fails nothing is stored and none is returned:
    keep() is then asked, which knows what errors mean. Raises what connecting and write() raise.
    """
    if engine.dialect.name != "postgresql":
        return frozenset()
    for whole in wholes:
        artefacts.write_large(files, whole.contents)
    pooled = engine.raw_connection()
    try:
        connection: psycopg.Connection[Any] = pooled.driver_connection  # type: ignore[assignment]  # of any driver
        stored = connection.execute(_of_driver(engine.dialect), parameters(wholes)).fetchall()
        connection.commit()
    except psycopg.Error:
        return frozenset()
    finally:
        # The pool rolls back what was not committed, and lets go of a connection that is broken.
        pooled.close()
    return frozenset(run_id for (run_id,) in stored)


@lru_cache(maxsize=1)
def _of_driver(dialect: Dialect) -> bytes:
    return str(ALL_AT_ONCE.compile(dialect=dialect)).encode()


def parameters(wholes: Sequence[WholeRun]) -> Mapping[str, Any]:
    """Return what ALL_AT_ONCE takes: one text for all but the contents, and their bytes."""
    contents, content = _laid_out(wholes)
    sent = {
        "runs": [_row(whole.run) for whole in wholes],
        "samples": [
            sample for whole in wholes for sample in samples.told(whole.run.id, whole.values)
        ],
        "contents": contents,
        "held": [
            {"run_id": whole.run.id, **artefacts.told(held)}
            for whole in wholes
            for held in whole.held
        ],
    }
    return {"sent": _written(sent), "bytes": content}


def _laid_out(wholes: Sequence[WholeRun]) -> tuple[list[Mapping[str, Any]], bytes]:
    """Return where each content lies among the bytes of all, from 1, and these bytes."""
    told: list[Mapping[str, Any]] = []
    parts: list[bytes] = []
    begins = 1
    for whole in wholes:
        for content in whole.contents:
            part = artefacts.in_row(content)
            told.append(
                {
                    "run_id": whole.run.id,
                    "digest": content.digest,
                    "size_bytes": content.size_bytes,
                    "begins": begins,
                    "length": None if part is None else len(part),
                }
            )
            parts.append(part or b"")
            begins += len(parts[-1])
    return told, b"".join(parts)


def _kept_apart(session: WriteSession, files: Files, whole: WholeRun) -> bool:
    """Store a run table by table; SQLite lets one writer in, so nothing changes in between."""
    told = whole.run
    job = jobs.find_holder(session, told.job_id)
    if job is None or job.fencing_token != told.fencing_token or job.host is None:
        return False
    if Cell(told.condition_key, told.protocol_key) not in job.cells:
        return False
    row = {name: value for name, value in _row(told).items() if name != "fencing_token"}
    run = NewRun(**row, session_id=job.session_id, stack_key=job.stack_key, host=job.host)
    if not runs.keep(session, run):
        return False
    samples.keep(session, told.id, whole.values)
    artefacts.keep(session, files, whole.contents, now=told.stored_at)
    artefacts.hold(session, told.id, whole.held)
    return True


def _written(sent: Mapping[str, Any]) -> str:
    try:
        return orjson.dumps(sent, default=_text, option=orjson.OPT_PASSTHROUGH_DATETIME).decode()
    except TypeError:
        # A number of more than 64 bits, which the quick writer does not know.
        return json.dumps(sent, default=_text)


def _text(value: object) -> str:
    """Return an id or a time as text. Raises OverflowError for a time that UTC has no year for."""
    return str(value.astimezone(UTC) if isinstance(value, datetime) else value)


def _row(run: ToldRun) -> dict[str, Any]:
    return {name: getattr(run, name) for name in NAMES}
