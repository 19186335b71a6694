"""Queries that keep and return screens: where the screen stands in each series."""

import struct
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Insert, RowMapping, Select, delete, func, select, tuple_
from sqlalchemy.dialects import postgresql, sqlite

from service.domain.cell import Cell
from service.domain.screen import Answer
from service.domain.standing import Standing
from service.store.database import ReadSession, WriteSession
from service.store.inserts import core
from service.store.samples import packed, unpacked
from service.store.series import SeriesKey
from service.store.tables import LookRow, ScreenRow

# As many conditions, or rows, as one statement names at most.
BATCH = 500
KEY = ("condition_key", "protocol_key", "metric", "host")
ORDER = tuple(getattr(ScreenRow, name) for name in KEY)


@dataclass(frozen=True, slots=True)
class StoredScreen:
    """Where the screen stands in a series, and what it last answered.

    smallest_effect: the smallest lasting change that would be seen, a ratio; None where none
    would. event_id: the event that its present level began with. run_id: the run seen last.
    """

    series: SeriesKey
    standing: Standing
    answer: Answer
    smallest_effect: float | None
    event_id: UUID | None
    run_id: UUID
    look: int
    looked_at: datetime


@dataclass(frozen=True, slots=True)
class ScreenFilter:
    """Which screens are asked for; None leaves a field open."""

    condition_key: str | None = None
    protocol_key: str | None = None
    metric: str | None = None
    host: str | None = None
    answer: str | None = None


def keep(session: WriteSession, screens: Collection[StoredScreen]) -> None:
    """Store where the screen stands in some series, in place of where it stood."""
    rows = sorted(map(_row, screens), key=lambda row: [row[name] for name in KEY])
    for begin in range(0, len(rows), BATCH):
        session.connection().execute(_upsert(session), rows[begin : begin + BATCH])


def forget(session: WriteSession, host: str, cells: Collection[Cell]) -> None:
    """Forget the series of some cells on a host: they are told anew."""
    pairs = sorted({(cell.condition_key, cell.protocol_key) for cell in cells})
    for begin in range(0, len(pairs), BATCH):
        some = tuple_(ScreenRow.condition_key, ScreenRow.protocol_key)
        session.execute(
            delete(ScreenRow)
            .where(ScreenRow.host == host, some.in_(pairs[begin : begin + BATCH]))
            .execution_options(synchronize_session=False)
        )


def of_conditions(
    session: ReadSession, keys: Collection[str], *, host: str | None = None
) -> Mapping[SeriesKey, StoredScreen]:
    """Return the screens of the series under some conditions, on a host or on all."""
    wanted = sorted(set(keys))
    found: dict[SeriesKey, StoredScreen] = {}
    for begin in range(0, len(wanted), BATCH):
        query = _columns().where(ScreenRow.condition_key.in_(wanted[begin : begin + BATCH]))
        if host is not None:
            query = query.where(ScreenRow.host == host)
        found |= {each.series: each for each in _all(session, query)}
    return found


def answers_under(session: ReadSession, keys: Collection[str]) -> Mapping[SeriesKey, Answer]:
    """Return what the screen last answered in each series under some conditions."""
    wanted = sorted(set(keys))
    found: dict[SeriesKey, Answer] = {}
    for begin in range(0, len(wanted), BATCH):
        some = ScreenRow.condition_key.in_(wanted[begin : begin + BATCH])
        columns = (
            ScreenRow.condition_key,
            ScreenRow.protocol_key,
            ScreenRow.metric,
            ScreenRow.host,
            ScreenRow.answer,
        )
        for row in session.execute(select(*columns).where(some)):
            condition_key, protocol_key, metric, host, answer = row
            series = SeriesKey(Cell(condition_key, protocol_key), metric, host)
            found[series] = Answer(answer)
    return found


def page(
    session: ReadSession, wanted: ScreenFilter, *, after: Sequence[str] | None, limit: int
) -> Sequence[StoredScreen]:
    """Return screens in the order of their series; after: the last series of the page before."""
    query = _columns().order_by(*ORDER).limit(limit)
    for name in (*KEY, "answer"):
        value = getattr(wanted, name)
        if value is not None:
            query = query.where(getattr(ScreenRow, name) == value)
    if after is not None:
        query = query.where(tuple_(*ORDER) > tuple(after))
    return _all(session, query)


def answers(session: ReadSession, session_ids: Collection[UUID]) -> Mapping[Answer, int]:
    """Return how many series gave each answer when they were last looked at in some sessions."""
    rows = session.execute(
        select(ScreenRow.answer, func.count())
        .join(LookRow, LookRow.number == ScreenRow.look)
        .where(LookRow.session_id.in_(session_ids))
        .group_by(ScreenRow.answer)
    )
    return {Answer(row[0]): row[1] for row in rows}


def _row(screen: StoredScreen) -> dict[str, Any]:
    standing = screen.standing
    return {
        "condition_key": screen.series.cell.condition_key,
        "protocol_key": screen.series.cell.protocol_key,
        "metric": screen.series.metric,
        "host": screen.series.host,
        "recent": packed(standing.values),
        "looks": struct.pack(f"<{len(standing.looks)}I", *standing.looks),
        "age": standing.age,
        "since": standing.since,
        "answer": screen.answer.value,
        "smallest_effect": screen.smallest_effect,
        "event_id": screen.event_id,
        "run_id": screen.run_id,
        "look": screen.look,
        "looked_at": screen.looked_at,
    }


def _upsert(session: WriteSession) -> Insert:
    changed = [column.name for column in core(ScreenRow).columns if column.name not in KEY]
    if session.get_bind().dialect.name == "sqlite":
        fresh = sqlite.insert(ScreenRow)
        return fresh.on_conflict_do_update(
            index_elements=KEY, set_={name: fresh.excluded[name] for name in changed}
        )
    new = postgresql.insert(ScreenRow)
    return new.on_conflict_do_update(
        index_elements=KEY, set_={name: new.excluded[name] for name in changed}
    )


def _columns() -> Select[Any]:
    return select(ScreenRow.__table__)


def _all(session: ReadSession, query: Select[Any]) -> list[StoredScreen]:
    return [_stored(row) for row in session.execute(query).mappings()]


def _stored(row: RowMapping) -> StoredScreen:
    looks: tuple[int, ...] = struct.unpack(f"<{len(row['looks']) // 4}I", row["looks"])
    return StoredScreen(
        series=SeriesKey(
            Cell(row["condition_key"], row["protocol_key"]), row["metric"], row["host"]
        ),
        standing=Standing(unpacked(row["recent"]), looks, row["age"], row["since"]),
        answer=Answer(row["answer"]),
        smallest_effect=row["smallest_effect"],
        event_id=row["event_id"],
        run_id=row["run_id"],
        look=row["look"],
        looked_at=row["looked_at"],
    )
