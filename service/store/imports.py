"""Queries that keep and return imports, and what is known of the runs they brought."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import func, select, update

from service.domain.audit import Act, Entry, Noun
from service.domain.cell import Cell
from service.store.database import ReadSession, WriteSession
from service.store.inserts import insert_new
from service.store.tables import ImportedRunRow, ImportRow, RunRow, WithdrawalRow

# As many results as one statement names at most.
BATCH = 500


@dataclass(frozen=True, slots=True)
class StoredImport:
    """One call that brought results. answer: what it was answered with, as JSON."""

    id: UUID
    stored_at: datetime
    imported_by: str
    answer: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """What is known of an imported run; digest and position name the result it holds."""

    run_id: UUID
    import_id: UUID
    digest: str
    position: int
    file: str
    line: int
    tool: str
    tool_version: str | None
    definition: int
    dated_by: str
    told: Mapping[str, Any]
    resolution: Mapping[str, Any]
    replaced_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """The run that holds a result, and under what it was stored."""

    run_id: UUID
    digest: str
    position: int
    definition: int
    condition_key: str
    protocol_key: str
    stack_key: str
    host: str


def hold(session: WriteSession) -> None:
    """Let nobody else import until this session ends; SQLite lets one writer in anyway.

    A lock on rows would not do: a result that is new has no row to wait for.
    """
    if session.get_bind().dialect.name == "postgresql":
        number = func.hashtextextended("kunline import", 0)
        session.execute(select(func.pg_advisory_xact_lock(number)))


def keep(session: WriteSession, stored: StoredImport) -> None:
    """Store an import; its runs come after it."""
    row = {field.name: getattr(stored, field.name) for field in fields(StoredImport)}
    insert_new(session, ImportRow, [row])


def read(session: ReadSession, import_id: UUID) -> Mapping[str, Any] | None:
    """Return what an import was answered with, or None for one that is not stored."""
    query = select(ImportRow.answer).where(ImportRow.id == import_id)
    return session.scalar(query)


def keep_runs(session: WriteSession, imported: Sequence[ImportedRun]) -> None:
    """Store what is known of new runs."""
    names = [field.name for field in fields(ImportedRun)]
    rows = [{name: getattr(run, name) for name in names} for run in imported]
    insert_new(session, ImportedRunRow, rows)


def standing(session: ReadSession, digests: Collection[str]) -> Mapping[tuple[str, int], Standing]:
    """Return the runs that hold results of some texts, by digest and position."""
    wanted = sorted(set(digests))
    found: dict[tuple[str, int], Standing] = {}
    for start in range(0, len(wanted), BATCH):
        query = (
            select(
                ImportedRunRow.run_id,
                ImportedRunRow.digest,
                ImportedRunRow.position,
                ImportedRunRow.definition,
                RunRow.condition_key,
                RunRow.protocol_key,
                RunRow.stack_key,
                RunRow.host,
            )
            .join(RunRow, RunRow.id == ImportedRunRow.run_id)
            .where(
                ImportedRunRow.digest.in_(wanted[start : start + BATCH]),
                ImportedRunRow.replaced_at.is_(None),
            )
        )
        for row in session.execute(query).mappings():
            found[row["digest"], row["position"]] = Standing(**row)
    return found


def replace(session: WriteSession, run_ids: Collection[UUID], *, now: datetime) -> None:
    """Say that the results of some runs are stored anew; these rows stay as history."""
    session.execute(
        update(ImportedRunRow)
        .where(ImportedRunRow.run_id.in_(run_ids))
        .values(replaced_at=now)
        .execution_options(synchronize_session=False)
    )


def find(session: ReadSession, run_id: UUID) -> ImportedRun | None:
    """Return what is known of an imported run, or None for one that a runner measured."""
    query = select(ImportedRunRow.__table__).where(ImportedRunRow.run_id == run_id)
    row = session.execute(query).mappings().one_or_none()
    return None if row is None else ImportedRun(**row)


def entry_of_run(session: ReadSession, run_id: UUID) -> Entry | None:
    """Return who imported a run and from where, or None for one that a runner measured."""
    query = (
        select(ImportRow.stored_at, ImportRow.imported_by, ImportedRunRow.file, ImportedRunRow.line)
        .join(ImportRow, ImportRow.id == ImportedRunRow.import_id)
        .where(ImportedRunRow.run_id == run_id)
    )
    row = session.execute(query).one_or_none()
    if row is None:
        return None
    return Entry(
        at=row.stored_at,
        actor=row.imported_by,
        act=Act.IMPORT,
        noun=Noun.RUN,
        noun_id=str(run_id),
        reason=f"read from line {row.line} of {row.file}",
    )


def definition(session: ReadSession, cell: Cell) -> int | None:
    """Return the definition of their metrics that a cell's imported runs have; None without any.

    A withdrawn run is never judged, so it keeps nothing out.
    """
    query = (
        select(ImportedRunRow.definition)
        .join(RunRow, RunRow.id == ImportedRunRow.run_id)
        .outerjoin(WithdrawalRow, WithdrawalRow.run_id == RunRow.id)
        .where(
            RunRow.condition_key == cell.condition_key,
            RunRow.protocol_key == cell.protocol_key,
            ImportedRunRow.replaced_at.is_(None),
            WithdrawalRow.run_id.is_(None),
        )
        .limit(1)
    )
    return session.scalar(query)
