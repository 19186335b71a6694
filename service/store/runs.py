"""Queries that keep and return runs."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import RowMapping, Select, func, select, tuple_

from service.domain.cell import Cell
from service.domain.withdrawal import Withdrawal
from service.store.among import among
from service.store.database import ReadSession, WriteSession
from service.store.inserts import insert_absent, took
from service.store.tables import ImportedRunRow, LaunchRow, RunRow, WithdrawalRow


@dataclass(frozen=True, slots=True)
class NewRun:
    """A run about to be stored, as its report tells it."""

    id: UUID
    session_id: UUID | None
    job_id: UUID | None
    launch_id: UUID
    condition_key: str
    protocol_key: str
    stack_key: str
    host: str
    state: str
    measured_at: datetime
    finished_at: datetime
    stored_at: datetime
    seeds: list[int]
    overhead_s: list[float]
    findings: list[Mapping[str, Any]]
    broken: Mapping[str, Any] | None


NAMES = tuple(field.name for field in fields(NewRun))


@dataclass(frozen=True, slots=True)
class StoredRun(NewRun):
    """A run beside what its launch was seen to be, and whether it was withdrawn since.

    drift: of its stack; empty where none. resolution: for an imported run, what its file tells.
    definition: revision of the tool's own meaning of an imported run's values; None of our own.
    """

    drift: list[Mapping[str, Any]]
    resolution: Mapping[str, Any]
    withdrawal: Withdrawal | None = None
    definition: int | None = None

    @property
    def is_imported(self) -> bool:
        """Whether it was measured elsewhere: no job of ours asked for it."""
        return self.job_id is None

    @property
    def may_be_judged(self) -> bool:
        """Whether anything may be concluded from it: measured, without drift, not withdrawn."""
        return self.state == "measured" and not self.drift and self.withdrawal is None

    @property
    def cell(self) -> Cell:
        """The square of the matrix it measured."""
        return Cell(self.condition_key, self.protocol_key)


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs are asked for; None leaves a field open."""

    stack_key: str | None = None
    condition_key: str | None = None
    session_id: UUID | None = None
    host: str | None = None
    state: str | None = None


@dataclass(frozen=True, slots=True)
class StandsOn:
    """How many measured runs a stack has in a cell: those that count, and those withdrawn."""

    measured: int = 0
    withdrawn: int = 0


class UnknownRunError(LookupError):
    """No run has that id."""

    def __init__(self, run_id: UUID) -> None:
        super().__init__(f"no run {run_id}")


def keep(session: WriteSession, run: NewRun) -> bool:
    """Store a run and return True; return False where it, or its job's cell, has one already."""
    return took(session, RunRow, _row(run))


def keep_all(session: WriteSession, runs: Sequence[NewRun]) -> None:
    """Store the runs whose job has none of that cell yet."""
    insert_absent(session, RunRow, [_row(run) for run in runs])


def last_session_of(session: ReadSession, stack_key: str) -> UUID | None:
    """Return the session that measured a stack last, or None where only imports have it."""
    query = select(RunRow.session_id).where(
        RunRow.stack_key == stack_key, RunRow.session_id.is_not(None)
    )
    return session.scalar(query.order_by(RunRow.measured_at.desc()).limit(1))


def is_stored(session: ReadSession, run_id: UUID) -> bool:
    """Return whether a run of that id is stored."""
    return session.scalar(select(RunRow.id).where(RunRow.id == run_id)) is not None


def read(session: ReadSession, run_id: UUID) -> StoredRun:
    """Return one run. Raises UnknownRunError."""
    found = _all(session, _columns().where(RunRow.id == run_id))
    if not found:
        raise UnknownRunError(run_id)
    return found[0]


def newest(
    session: ReadSession,
    wanted: RunFilter,
    *,
    before: tuple[datetime, UUID] | None = None,
    limit: int = 50,
) -> Sequence[StoredRun]:
    """Return runs, the newest stored first; before: the last one of the page already read."""
    query = _filtered(wanted).order_by(RunRow.stored_at.desc(), RunRow.id.desc()).limit(limit)
    if before is not None:
        query = query.where(tuple_(RunRow.stored_at, RunRow.id) < before)
    return _all(session, query)


def of_session(session: ReadSession, session_id: UUID, *, limit: int) -> Sequence[StoredRun]:
    """Return a session's runs in the order measured."""
    return _all(session, _in_order(RunFilter(session_id=session_id), limit))


def sessions_of(session: ReadSession, run_ids: Collection[UUID]) -> Collection[UUID]:
    """Return the sessions that some runs are of; an imported run is of none."""
    query = select(RunRow.session_id).distinct().where(RunRow.id.in_(sorted(run_ids)))
    return [found for found in session.scalars(query) if found is not None]


def of_stack(
    session: ReadSession,
    stack_key: str,
    *,
    conditions: Collection[str] | None = None,
    host: str | None = None,
    limit: int,
) -> Sequence[StoredRun]:
    """Return a stack's newest runs of some conditions, or of all, on a host, or on any."""
    query = _filtered(RunFilter(stack_key=stack_key, host=host))
    if conditions is not None:
        query = query.where(among(session, RunRow.condition_key, conditions))
    newest_first = query.order_by(RunRow.measured_at.desc(), RunRow.id).limit(limit)
    return _all(session, newest_first)[::-1]


def counts(session: ReadSession) -> Mapping[str, int]:
    """Return how many runs are in each state."""
    rows = session.execute(select(RunRow.state, func.count()).group_by(RunRow.state))
    return {row[0]: row[1] for row in rows}


def standing(
    session: ReadSession, stack_keys: Collection[str]
) -> Mapping[tuple[str, Cell], StandsOn]:
    """Return how many measured runs some stacks have in each cell, and how many are withdrawn."""
    withdrawn = func.count(WithdrawalRow.run_id)
    cell = (RunRow.stack_key, RunRow.condition_key, RunRow.protocol_key)
    rows = session.execute(
        select(*cell, func.count(), withdrawn)
        .outerjoin(WithdrawalRow, WithdrawalRow.run_id == RunRow.id)
        .where(RunRow.stack_key.in_(stack_keys), RunRow.state == "measured")
        .group_by(*cell)
    )
    found = defaultdict[tuple[str, Cell], StandsOn](StandsOn)
    for stack_key, condition_key, protocol_key, whole, taken in rows:
        found[stack_key, Cell(condition_key, protocol_key)] = StandsOn(whole - taken, taken)
    return found


def cells_of_job(session: ReadSession, job_id: UUID) -> frozenset[Cell]:
    """Return the cells of a job that have a run."""
    rows = session.execute(
        select(RunRow.condition_key, RunRow.protocol_key).where(RunRow.job_id == job_id)
    )
    return frozenset(Cell(row.condition_key, row.protocol_key) for row in rows)


def _row(run: NewRun) -> dict[str, Any]:
    """Return a run as its row, without the deep copies that asdict would make."""
    return {name: getattr(run, name) for name in NAMES}


def _in_order(wanted: RunFilter, limit: int) -> Select[Any]:
    return _filtered(wanted).order_by(RunRow.measured_at, RunRow.id).limit(limit)


def _filtered(wanted: RunFilter) -> Select[Any]:
    query = _columns()
    for column, value in (
        (RunRow.stack_key, wanted.stack_key),
        (RunRow.condition_key, wanted.condition_key),
        (RunRow.session_id, wanted.session_id),
        (RunRow.host, wanted.host),
        (RunRow.state, wanted.state),
    ):
        if value is not None:
            query = query.where(column == value)
    return query


def _columns() -> Select[Any]:
    return (
        select(
            RunRow.__table__,
            LaunchRow.drift,
            func.coalesce(LaunchRow.resolution, ImportedRunRow.resolution).label("resolution"),
            ImportedRunRow.definition,
            WithdrawalRow.withdrawn_at,
            WithdrawalRow.withdrawn_by,
            WithdrawalRow.reason,
            WithdrawalRow.replaced_by,
        )
        .outerjoin(LaunchRow, LaunchRow.id == RunRow.launch_id)
        .outerjoin(ImportedRunRow, ImportedRunRow.run_id == RunRow.id)
        .outerjoin(WithdrawalRow, WithdrawalRow.run_id == RunRow.id)
    )


def _all(session: ReadSession, query: Select[Any]) -> Sequence[StoredRun]:
    return [_stored(row) for row in session.execute(query).mappings()]


def _stored(row: RowMapping) -> StoredRun:
    withdrawn = row["withdrawn_at"] is not None
    return StoredRun(
        **{name: row[name] for name in NAMES},
        drift=row["drift"] or [],
        resolution=row["resolution"] or {},
        definition=row["definition"],
        withdrawal=_withdrawal(row) if withdrawn else None,
    )


def _withdrawal(row: RowMapping) -> Withdrawal:
    return Withdrawal(
        run_id=row["id"],
        withdrawn_at=row["withdrawn_at"],
        withdrawn_by=row["withdrawn_by"],
        reason=row["reason"],
        replaced_by=row["replaced_by"],
    )
