"""Queries that keep and return launches."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Insert, Text, cast, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from service.domain.answer import LaunchAnswer
from service.store.database import ReadSession, WriteSession
from service.store.tables import JobRow, LaunchRow

# As many launch ids as one statement names at most.
BATCH = 500
# What was observed of a launch that its runner told nothing of, as it is stored.
NOTHING = "{}"


@dataclass(frozen=True, slots=True)
class StoredLaunch:
    """A launch as its newest report tells it. drift: of the stack it declared."""

    id: UUID
    job_id: UUID
    stack_key: str
    host: str
    started_at: datetime
    stopped_at: datetime | None
    start_up_s: float | None
    observed: Mapping[str, str]
    drift: list[Mapping[str, Any]]
    resolution: Mapping[str, Any]
    preflight: list[Mapping[str, Any]]
    answer: list[float]
    loaded_answer: Mapping[str, Any] | None
    broken: Mapping[str, Any] | None


class UnknownLaunchError(LookupError):
    """No launch has that id, or nothing was told of it yet."""

    def __init__(self, launch_id: UUID) -> None:
        super().__init__(f"no launch {launch_id}; a run's launch is told of by its runner")


def keep(session: WriteSession, launch: StoredLaunch) -> None:
    """Store a launch, in place of what an earlier report told of it."""
    row = asdict(launch)
    changed = {name: value for name, value in row.items() if name not in {"id", "job_id"}}
    session.execute(_upsert(session, changed), [row])


def read(session: ReadSession, launch_id: UUID) -> StoredLaunch:
    """Return one launch. Raises UnknownLaunchError."""
    query = select(LaunchRow.__table__).where(LaunchRow.id == launch_id)
    row = session.execute(query).mappings().one_or_none()
    if row is None:
        raise UnknownLaunchError(launch_id)
    return StoredLaunch(**row)


def newest_of_job(session: ReadSession, job_id: UUID) -> StoredLaunch | None:
    """Return the launch of a job that started last, or None."""
    query = select(LaunchRow.__table__).where(LaunchRow.job_id == job_id)
    row = session.execute(
        query.order_by(LaunchRow.started_at.desc(), LaunchRow.id).limit(1)
    ).mappings()
    found = row.one_or_none()
    return None if found is None else StoredLaunch(**found)


@dataclass(frozen=True, slots=True)
class Lived:
    """How long one launch of a job took, in seconds, and whether its runner told of it at all."""

    job_id: UUID
    seconds: float
    reported: bool


def lived(session: ReadSession, session_id: UUID) -> Sequence[Lived]:
    """Return how long each launch of a session took that has ended, in the order of their begins.

    One that runs just now counts once it ends; one that was lost ended with its lease. One that
    nobody told of lasted from its claim until it was lost, and has nothing that was seen.
    """
    rows = session.execute(
        select(
            LaunchRow.job_id,
            LaunchRow.started_at,
            LaunchRow.stopped_at,
            LaunchRow.observed,
            LaunchRow.preflight,
            LaunchRow.broken,
        )
        .join(JobRow, JobRow.id == LaunchRow.job_id)
        .where(JobRow.session_id == session_id, LaunchRow.stopped_at.is_not(None))
        .order_by(LaunchRow.started_at, LaunchRow.id)
    )
    return [
        Lived(row.job_id, (row.stopped_at - row.started_at).total_seconds(), any(row[3:]))
        for row in rows
    ]


def count_of_job(session: ReadSession, job_id: UUID) -> int:
    """Return how many launches of a job are known."""
    query = select(func.count()).select_from(LaunchRow).where(LaunchRow.job_id == job_id)
    return session.scalar(query) or 0


def end_lost(session: WriteSession, job_id: UUID, *, at: datetime) -> None:
    """End the launches of a job that nobody told the end of: its runner went quiet.

    The cards were held until then. What a runner still tells of the launch takes its place.
    """
    session.execute(
        update(LaunchRow)
        .where(
            LaunchRow.job_id == job_id,
            LaunchRow.stopped_at.is_(None),
            LaunchRow.started_at <= at,
        )
        .values(stopped_at=at)
        .execution_options(synchronize_session=False)
    )


def last_started(
    session: ReadSession, stack_keys: Collection[str], *, host: str
) -> Mapping[str, datetime]:
    """Return when each of some stacks was last started on a host, of those that were."""
    rows = session.execute(
        select(LaunchRow.stack_key, func.max(LaunchRow.started_at))
        .where(
            LaunchRow.stack_key.in_(sorted(stack_keys)),
            LaunchRow.host == host,
            # Of one that nobody told of it is not known that it was started.
            cast(LaunchRow.observed, Text) != NOTHING,
        )
        .group_by(LaunchRow.stack_key)
    )
    return {row[0]: row[1] for row in rows}


def spans(session: ReadSession, session_id: UUID) -> Mapping[UUID, Sequence[float | None]]:
    """Return the seconds that each launch of each job of a session took; None for one not ended."""
    rows = session.execute(
        select(LaunchRow.job_id, LaunchRow.started_at, LaunchRow.stopped_at)
        .join(JobRow, JobRow.id == LaunchRow.job_id)
        .where(JobRow.session_id == session_id)
        .order_by(LaunchRow.started_at, LaunchRow.id)
    )
    found: dict[UUID, list[float | None]] = {}
    for job_id, began, ended in rows:
        seconds = None if ended is None else (ended - began).total_seconds()
        found.setdefault(job_id, []).append(seconds)
    return found


def start_ups(session: ReadSession, ids: Collection[UUID]) -> Mapping[UUID, float]:
    """Return the seconds until the servers of some launches answered, of those that told it."""
    query = select(LaunchRow.id, LaunchRow.start_up_s).where(
        LaunchRow.id.in_(sorted(ids)), LaunchRow.start_up_s.is_not(None)
    )
    return {row.id: row.start_up_s for row in session.execute(query)}


def answers(session: ReadSession, ids: Collection[UUID]) -> Mapping[UUID, LaunchAnswer]:
    """Return what the fixed prompts gave in some launches; one not asked is left out."""
    wanted = sorted(ids)
    found: dict[UUID, LaunchAnswer] = {}
    for begin in range(0, len(wanted), BATCH):
        some = wanted[begin : begin + BATCH]
        columns = LaunchRow.id, LaunchRow.answer, LaunchRow.loaded_answer
        rows = session.execute(select(*columns).where(LaunchRow.id.in_(some)))
        found |= {row.id: _answer(*row[1:]) for row in rows if row.answer}
    return found


def is_of_job(session: ReadSession, launch_id: UUID, job_id: UUID) -> bool:
    """Return whether a launch of that id is stored for that job."""
    query = select(LaunchRow.id).where(LaunchRow.id == launch_id, LaunchRow.job_id == job_id)
    return session.scalar(query) is not None


def _answer(idle: Sequence[float], loaded: Mapping[str, Any] | None) -> LaunchAnswer:
    if loaded is None:
        return LaunchAnswer(idle)
    return LaunchAnswer(idle, loaded["log_probabilities"], loaded["concurrency"])


def _upsert(session: WriteSession, changed: Mapping[str, Any]) -> Insert:
    if session.get_bind().dialect.name == "sqlite":
        fresh = sqlite.insert(LaunchRow)
        return fresh.on_conflict_do_update(
            index_elements=["id"],
            set_={name: fresh.excluded[name] for name in changed},
            where=LaunchRow.job_id == fresh.excluded.job_id,
        )
    new = postgresql.insert(LaunchRow)
    return new.on_conflict_do_update(
        index_elements=["id"],
        set_={name: new.excluded[name] for name in changed},
        where=LaunchRow.job_id == new.excluded.job_id,
    )
