"""Queries that keep and return runners."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Insert, Select, and_, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from service.domain.job import Capacity, JobState
from service.store.database import ReadSession, WriteSession
from service.store.tables import JobRow, RunnerRow


@dataclass(frozen=True, slots=True)
class StoredRunner:
    """A runner as last heard of. job_id: what it holds, or None."""

    capacity: Capacity
    state: str
    seen_at: datetime
    job_id: UUID | None


class UnknownRunnerError(LookupError):
    """No runner of that name was ever heard of."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no runner {name!r}")


def see(session: WriteSession, capacity: Capacity, *, now: datetime) -> None:
    """Store what a runner says of itself; whether it may work is not its to say."""
    row = {
        "name": capacity.runner,
        "host": capacity.host,
        "pool": capacity.pool,
        "chips": list(capacity.chips),
        "cards": capacity.cards,
        "version": capacity.version,
        "incarnation": capacity.incarnation,
        "state": "active",
        "seen_at": now,
    }
    session.execute(_upsert(session, frozenset(row) - {"name", "state"}), [row])


def touch(session: WriteSession, name: str, *, now: datetime) -> None:
    """Note that a runner was heard of."""
    session.execute(
        update(RunnerRow)
        .where(RunnerRow.name == name)
        .values(seen_at=now)
        .execution_options(synchronize_session=False)
    )


def set_state(session: WriteSession, name: str, state: str) -> None:
    """Set whether a runner may work. Raises UnknownRunnerError."""
    changed = session.execute(
        update(RunnerRow)
        .where(RunnerRow.name == name)
        .values(state=state)
        .returning(RunnerRow.name)
        .execution_options(synchronize_session=False)
    )
    if changed.scalar_one_or_none() is None:
        raise UnknownRunnerError(name)


def read(session: ReadSession, name: str) -> StoredRunner:
    """Return one runner. Raises UnknownRunnerError."""
    found = _all(session, _with_job().where(RunnerRow.name == name))
    if not found:
        raise UnknownRunnerError(name)
    return found[0]


def by_name(session: ReadSession, *, limit: int = 1000) -> Sequence[StoredRunner]:
    """Return all runners, by name."""
    return _all(session, _with_job().order_by(RunnerRow.name).limit(limit))


def counts(session: ReadSession) -> Mapping[str, int]:
    """Return how many runners are in each state."""
    rows = session.execute(select(RunnerRow.state, func.count()).group_by(RunnerRow.state))
    return {row[0]: row[1] for row in rows}


def _with_job() -> Select[RunnerRow, UUID]:
    holds = and_(JobRow.runner == RunnerRow.name, JobRow.state == JobState.CLAIMED.value)
    return select(RunnerRow, JobRow.id).outerjoin(JobRow, holds)


def _all(session: ReadSession, query: Select[RunnerRow, UUID]) -> Sequence[StoredRunner]:
    fresh = query.execution_options(populate_existing=True)
    return [_stored(row, job_id) for row, job_id in session.execute(fresh)]


def _stored(row: RunnerRow, job_id: UUID | None) -> StoredRunner:
    capacity = Capacity(
        runner=row.name,
        incarnation=row.incarnation,
        host=row.host,
        pool=row.pool,
        chips=tuple(row.chips),
        cards=row.cards,
        version=row.version,
    )
    return StoredRunner(capacity, row.state, row.seen_at, job_id)


def _upsert(session: WriteSession, changed: frozenset[str]) -> Insert:
    if session.get_bind().dialect.name == "sqlite":
        fresh = sqlite.insert(RunnerRow)
        return fresh.on_conflict_do_update(
            index_elements=["name"], set_={name: fresh.excluded[name] for name in changed}
        )
    new = postgresql.insert(RunnerRow)
    return new.on_conflict_do_update(
        index_elements=["name"], set_={name: new.excluded[name] for name in changed}
    )
