"""Queries that keep and return looks: the rows of the matrix that the screen has seen."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Select, and_, func, insert, select

from service.domain.cell import Cell
from service.store.database import ReadSession, WriteSession
from service.store.tables import (
    ImportedRunRow,
    LaunchRow,
    LookRow,
    RunRow,
    SampleRow,
    StackRow,
    WithdrawalRow,
)

# As many looks, or conditions, as one statement names at most.
BATCH = 500


@dataclass(frozen=True, slots=True)
class NewLook:
    """A look about to be kept: of one stack, in one session or one import."""

    host: str
    stack_key: str
    session_id: UUID | None
    import_id: UUID | None
    measured_at: datetime


@dataclass(frozen=True, slots=True)
class Look(NewLook):
    """A look that is kept."""

    number: int
    built_at: date
    looked_at: datetime

    @property
    def place(self) -> tuple[date, datetime, int]:
        """Where it stands among the looks of a host: in the order in which stacks were built."""
        return self.built_at, self.measured_at, self.number


@dataclass(frozen=True, slots=True)
class LookedRun:
    """A run of a look. medians: by metric; empty where nothing may be concluded from it."""

    run_id: UUID
    cell: Cell
    measured_at: datetime
    medians: Mapping[str, float]


def hold(session: WriteSession) -> None:
    """Let nobody else look until this session ends; SQLite lets one writer in anyway.

    A lock on rows would not do: a series that is new has no row to wait for.
    """
    if session.get_bind().dialect.name == "postgresql":
        number = func.hashtextextended("kunline screen", 0)
        session.execute(select(func.pg_advisory_xact_lock(number)))


def keep(session: WriteSession, new: NewLook, *, now: datetime) -> Look:
    """Store a look and return it with its number."""
    row = {name: getattr(new, name) for name in NewLook.__dataclass_fields__}
    stored = insert(LookRow).values(**row, looked_at=now).returning(LookRow.number)
    number = session.execute(stored).scalar_one()
    return by_number(session, [number])[number]


def by_number(session: ReadSession, numbers: Collection[int]) -> Mapping[int, Look]:
    """Return looks by their numbers."""
    wanted = sorted(set(numbers))
    found: dict[int, Look] = {}
    for begin in range(0, len(wanted), BATCH):
        some = LookRow.number.in_(wanted[begin : begin + BATCH])
        found |= {each.number: each for each in _all(session, _columns().where(some))}
    return found


def of_session(session: ReadSession, session_id: UUID) -> Mapping[str, Look]:
    """Return the looks at a session, by the key of their stack."""
    found = _all(session, _columns().where(LookRow.session_id == session_id))
    return {each.stack_key: each for each in found}


def of_runs(session: ReadSession, run_ids: Collection[UUID]) -> Sequence[Look]:
    """Return the looks that some runs are part of, in order."""
    wanted = sorted(run_ids)
    found: dict[int, Look] = {}
    for begin in range(0, len(wanted), BATCH):
        some = RunRow.id.in_(wanted[begin : begin + BATCH])
        for of in (_of_session(), _of_import()):
            query = _columns().where(LookRow.number.in_(of.where(some)))
            found |= {each.number: each for each in _all(session, query)}
    return sorted(found.values(), key=lambda each: each.place)


def of_import(session: ReadSession, import_id: UUID) -> Look | None:
    """Return the look at an import, or None."""
    found = _all(session, _columns().where(LookRow.import_id == import_id))
    return found[0] if found else None


def brought(session: ReadSession, import_id: UUID, *, host: str) -> NewLook | None:
    """Return the look that an import is, or None where none of its runs was measured."""
    row = session.execute(
        select(RunRow.stack_key, func.min(RunRow.measured_at))
        .join(ImportedRunRow, ImportedRunRow.run_id == RunRow.id)
        .where(ImportedRunRow.import_id == import_id, RunRow.state == "measured")
        .group_by(RunRow.stack_key)
    ).one_or_none()
    return None if row is None else NewLook(host, row[0], None, import_id, row[1])


def of_cells(
    session: ReadSession, host: str, cells: Collection[Cell], *, limit: int
) -> Sequence[Look]:
    """Return the newest looks on a host that have runs of some cells, in order."""
    keys = sorted({cell.condition_key for cell in cells})
    found: dict[int, Look] = {}
    for begin in range(0, len(keys), BATCH):
        some = keys[begin : begin + BATCH]
        for of in (_of_session(), _of_import()):
            numbers = of.where(RunRow.condition_key.in_(some), LookRow.host == host)
            query = _columns().where(LookRow.number.in_(numbers))
            query = query.order_by(
                StackRow.built_at.desc(), LookRow.measured_at.desc(), LookRow.number.desc()
            )
            found |= {each.number: each for each in _all(session, query.limit(limit))}
    return sorted(found.values(), key=lambda each: each.place)[-limit:]


def runs(
    session: ReadSession,
    numbers: Collection[int],
    *,
    metrics: Collection[str],
    conditions: Collection[str] | None = None,
) -> Mapping[int, Sequence[LookedRun]]:
    """Return the runs of some looks, in the order measured, with their medians of some metrics.

    conditions: of those alone, by key; None for all that a look has.
    """
    wanted = sorted(set(numbers))
    found: dict[int, dict[UUID, LookedRun]] = {number: {} for number in wanted}
    for begin in range(0, len(wanted), BATCH):
        some = LookRow.number.in_(wanted[begin : begin + BATCH])
        for of in (_of_session(), _of_import()):
            query = _with_values(of.where(some), metrics)
            if conditions is not None:
                query = query.where(RunRow.condition_key.in_(sorted(conditions)))
            for row in session.execute(query).mappings():
                _gather(found[row["number"]], row)
    return {
        number: sorted(of_look.values(), key=lambda run: (run.measured_at, run.run_id))
        for number, of_look in found.items()
    }


def first_runs(
    session: ReadSession, numbers: Collection[int], cell: Cell, *, metric: str
) -> Mapping[int, UUID]:
    """Return the first run of a cell in each of some looks that has a value and may be judged."""
    wanted = sorted(set(numbers))
    of_metric = and_(SampleRow.run_id == RunRow.id, SampleRow.metric == metric)
    found: list[tuple[datetime, UUID, int]] = []
    for begin in range(0, len(wanted), BATCH):
        for of in (_of_session(), _of_import()):
            rows = session.execute(
                of.add_columns(RunRow.measured_at, RunRow.id, LaunchRow.drift)
                .join(SampleRow, of_metric)
                .outerjoin(LaunchRow, LaunchRow.id == RunRow.launch_id)
                .outerjoin(WithdrawalRow, WithdrawalRow.run_id == RunRow.id)
                .where(
                    LookRow.number.in_(wanted[begin : begin + BATCH]),
                    RunRow.condition_key == cell.condition_key,
                    RunRow.protocol_key == cell.protocol_key,
                    RunRow.state == "measured",
                    WithdrawalRow.run_id.is_(None),
                )
            )
            found += [(at, run_id, number) for number, at, run_id, drift in rows if not drift]
    # The last that is set is the first that was measured.
    return {number: run_id for _, run_id, number in sorted(found, reverse=True)}


def _gather(found: dict[UUID, LookedRun], row: Mapping[Any, Any]) -> None:
    judged = row["state"] == "measured" and not row["drift"] and row["withdrawn_at"] is None
    run = found.setdefault(
        row["id"],
        LookedRun(
            row["id"], Cell(row["condition_key"], row["protocol_key"]), row["measured_at"], {}
        ),
    )
    if judged and row["metric"] is not None and isinstance(run.medians, dict):
        run.medians[row["metric"]] = row["median"]


def _with_values(query: Select[Any], metrics: Collection[str]) -> Select[Any]:
    of_metric = and_(SampleRow.run_id == RunRow.id, SampleRow.metric.in_(metrics))
    return (
        query.add_columns(
            RunRow.id,
            RunRow.condition_key,
            RunRow.protocol_key,
            RunRow.measured_at,
            RunRow.state,
            LaunchRow.drift,
            WithdrawalRow.withdrawn_at,
            SampleRow.metric,
            SampleRow.median,
        )
        .outerjoin(SampleRow, of_metric)
        .outerjoin(LaunchRow, LaunchRow.id == RunRow.launch_id)
        .outerjoin(WithdrawalRow, WithdrawalRow.run_id == RunRow.id)
    )


def _of_session() -> Select[Any]:
    """Return the numbers of the looks at sessions, joined to their runs."""
    of_look = and_(RunRow.session_id == LookRow.session_id, RunRow.stack_key == LookRow.stack_key)
    return select(LookRow.number).join(RunRow, of_look)


def _of_import() -> Select[Any]:
    """Return the numbers of the looks at imports, joined to their runs."""
    return (
        select(LookRow.number)
        .join(ImportedRunRow, ImportedRunRow.import_id == LookRow.import_id)
        .join(RunRow, RunRow.id == ImportedRunRow.run_id)
    )


def _columns() -> Select[Any]:
    return select(LookRow.__table__, StackRow.built_at).join(
        StackRow, StackRow.key == LookRow.stack_key
    )


def _all(session: ReadSession, query: Select[Any]) -> list[Look]:
    names = Look.__dataclass_fields__
    return [
        Look(**{name: row[name] for name in names}) for row in session.execute(query).mappings()
    ]
