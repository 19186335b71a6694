"""Queries that keep and return noise: what each session tells of the three variances."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Insert, RowMapping, delete, func, select
from sqlalchemy.dialects import postgresql, sqlite

from service.domain.cell import Cell
from service.stats.variance import Reduction, Squares
from service.store.among import among
from service.store.database import ReadSession, WriteSession
from service.store.inserts import insert_new
from service.store.tables import NoiseRow, NoiseVersionRow

# As many condition keys as one statement names at most.
BATCH = 500
# As many of the newest sessions of a cell as are pooled: enough for any spread to be known well.
SESSIONS_MAX = 100


CELL_AND_METRIC = (NoiseRow.condition_key, NoiseRow.protocol_key, NoiseRow.metric)
# Whose noise has a version: a cell's on a host.
VERSIONED = ("condition_key", "protocol_key", "host")
# What is told of noise: what _squares() takes, and by how many launches.
SQUARES = (
    NoiseRow.launch_squares,
    NoiseRow.launch_freedom,
    NoiseRow.launch_coefficient,
    NoiseRow.seed_squares,
    NoiseRow.seed_freedom,
    NoiseRow.seed_coefficient,
    NoiseRow.residual_squares,
    NoiseRow.residual_freedom,
    NoiseRow.launches,
)


@dataclass(frozen=True, slots=True)
class NoiseKey:
    """Whose noise: a metric of a cell on a host."""

    cell: Cell
    metric: str
    host: str


@dataclass(frozen=True, slots=True)
class ToldNoise:
    """What somebody tells of one metric of a cell, and by how many launches."""

    squares: Squares
    launches: int


@dataclass(frozen=True, slots=True)
class SessionNoise(ToldNoise):
    """What one session tells of one metric of a cell. run_ids: the runs it rests on."""

    key: NoiseKey
    session_id: UUID
    run_ids: Sequence[UUID]
    measured_at: datetime


def keep(session: WriteSession, session_id: UUID, found: Sequence[SessionNoise]) -> None:
    """Store what a session tells of noise, in place of what was told of it before."""
    places = set(of_session(session, session_id)) | {each.key for each in found}
    session.execute(
        delete(NoiseRow)
        .where(NoiseRow.session_id == session_id)
        .execution_options(synchronize_session=False)
    )
    insert_new(session, NoiseRow, [_row(each) for each in found])
    _count(
        session, {(each.cell.condition_key, each.cell.protocol_key, each.host) for each in places}
    )


def versions(session: ReadSession, keys: Collection[str]) -> Mapping[tuple[Cell, str], int]:
    """Return a number for each cell and host that is another one once its noise is told anew."""
    row = NoiseVersionRow
    columns = row.condition_key, row.protocol_key, row.host, row.version
    rows = session.execute(select(*columns).where(among(session, row.condition_key, keys)))
    return {
        (Cell(condition, protocol), host): version for condition, protocol, host, version in rows
    }


def of_conditions(
    session: ReadSession,
    keys: Collection[str],
    *,
    host: str | None = None,
) -> Mapping[NoiseKey, Sequence[SessionNoise]]:
    """Return what is known of the noise under some conditions, by session, the newest first.

    host: of that host alone.
    """
    wanted = sorted(set(keys))
    found: dict[NoiseKey, list[SessionNoise]] = defaultdict(list)
    for begin in range(0, len(wanted), BATCH):
        query = select(NoiseRow.__table__).where(
            NoiseRow.condition_key.in_(wanted[begin : begin + BATCH])
        )
        if host is not None:
            query = query.where(NoiseRow.host == host)
        ordered = query.order_by(NoiseRow.measured_at.desc(), NoiseRow.session_id)
        for row in session.execute(ordered).mappings():
            told = _told(row)
            if len(found[told.key]) < SESSIONS_MAX:
                found[told.key].append(told)
    return found


def told_on_host(
    session: ReadSession,
    keys: Collection[str],
    *,
    host: str,
    without_sessions: Collection[UUID],
) -> Mapping[NoiseKey, Sequence[ToldNoise]]:
    """Return what the newest sessions of a host tell under some conditions, the newest first.

    without_sessions: those that are not to speak for themselves.
    """
    number = func.row_number().over(
        partition_by=(NoiseRow.condition_key, NoiseRow.protocol_key, NoiseRow.metric),
        order_by=(NoiseRow.measured_at.desc(), NoiseRow.session_id),
    )
    query = select(*CELL_AND_METRIC, *SQUARES, number.label("number")).where(
        NoiseRow.condition_key.in_(sorted(set(keys))), NoiseRow.host == host
    )
    if without_sessions:
        query = query.where(NoiseRow.session_id.not_in(without_sessions))
    ranked = query.subquery()
    rows = session.execute(
        select(ranked).where(ranked.c.number <= SESSIONS_MAX).order_by(ranked.c.number)
    )
    found: dict[NoiseKey, list[ToldNoise]] = defaultdict(list)
    for condition_key, protocol_key, metric, *squares, launches, _ in rows:
        key = NoiseKey(Cell(condition_key, protocol_key), metric, host)
        found[key].append(ToldNoise(_squares(*squares), launches))
    return found


def of_session(session: ReadSession, session_id: UUID) -> Sequence[NoiseKey]:
    """Return whose noise a session tells something of."""
    columns = NoiseRow.condition_key, NoiseRow.protocol_key, NoiseRow.metric, NoiseRow.host
    rows = session.execute(select(*columns).where(NoiseRow.session_id == session_id))
    return [
        NoiseKey(Cell(row.condition_key, row.protocol_key), row.metric, row.host) for row in rows
    ]


def _count(session: WriteSession, places: Collection[tuple[str, str, str]]) -> None:
    """Count up how often the noise of some cells on their hosts was told."""
    # In one order for all writers, so that two of them never wait in a ring.
    rows = [{**dict(zip(VERSIONED, each, strict=True)), "version": 1} for each in sorted(places)]
    if rows:
        session.connection().execute(_one_more(session), rows)


def _one_more(session: WriteSession) -> Insert:
    if session.get_bind().dialect.name == "sqlite":
        fresh = sqlite.insert(NoiseVersionRow)
        return fresh.on_conflict_do_update(
            index_elements=VERSIONED, set_={"version": NoiseVersionRow.version + 1}
        )
    new = postgresql.insert(NoiseVersionRow)
    return new.on_conflict_do_update(
        index_elements=VERSIONED, set_={"version": NoiseVersionRow.version + 1}
    )


def _row(told: SessionNoise) -> dict[str, Any]:
    launch, seed, residual = told.squares.launch, told.squares.seed, told.squares.residual
    return {
        "session_id": told.session_id,
        "condition_key": told.key.cell.condition_key,
        "protocol_key": told.key.cell.protocol_key,
        "metric": told.key.metric,
        "host": told.key.host,
        "launch_squares": launch.squares,
        "launch_freedom": launch.freedom,
        "launch_coefficient": launch.coefficient,
        "seed_squares": seed.squares,
        "seed_freedom": seed.freedom,
        "seed_coefficient": seed.coefficient,
        "residual_squares": residual.squares,
        "residual_freedom": residual.freedom,
        "launches": told.launches,
        "run_ids": [str(run_id) for run_id in told.run_ids],
        "measured_at": told.measured_at,
    }


def _told(row: RowMapping) -> SessionNoise:
    return SessionNoise(
        key=NoiseKey(Cell(row["condition_key"], row["protocol_key"]), row["metric"], row["host"]),
        session_id=row["session_id"],
        squares=_squares(*(row[column.key] for column in SQUARES[:-1])),
        launches=row["launches"],
        run_ids=[UUID(run_id) for run_id in row["run_ids"]],
        measured_at=row["measured_at"],
    )


def _squares(*told: float) -> Squares:
    """Return squares, their freedom and their coefficient, of launch, seed and residual."""
    launch, seed, residual = told[:3], told[3:6], told[6:]
    return Squares(
        Reduction(launch[0], launch[1], launch[2]),
        Reduction(seed[0], seed[1], seed[2]),
        Reduction(residual[0], residual[1], 0.0),
    )
