"""Know a runner: hear of it, lose what an earlier life of it held, let it work or not."""

from datetime import datetime
from uuid import UUID

from service.domain.job import Capacity, Leasing
from service.formats.orders import Claim
from service.formats.runners import RunnerRead, RunnerState
from service.store import jobs, runners
from service.store.database import ReadSession, WriteSession
from service.store.runners import StoredRunner
from service.usecases.lose_job import lose_job


def register_runner(
    session: WriteSession, claim: Claim, *, leasing: Leasing, now: datetime
) -> RunnerRead:
    """Store what a runner says of itself; what an earlier life of it held is lost at once."""
    capacity = capacity_of(claim)
    runners.see(session, capacity, now=now)
    for job in jobs.held_by(session, claim.runner):
        if job.incarnation != capacity.incarnation:
            lose_job(session, job, leasing=leasing, now=now)
    return read_runner(session, claim.runner)


def set_runner_state(session: WriteSession, name: str, state: RunnerState) -> RunnerRead:
    """Let a runner work, pause it or drain it. Raises UnknownRunnerError."""
    runners.set_state(session, name, state)
    return read_runner(session, name)


def read_runner(session: ReadSession, name: str) -> RunnerRead:
    """Return one runner. Raises UnknownRunnerError."""
    return _read(runners.read(session, name))


def list_runners(session: ReadSession) -> tuple[RunnerRead, ...]:
    """Return every runner that was ever heard of, by name."""
    return tuple(_read(stored) for stored in runners.by_name(session))


def capacity_of(claim: Claim) -> Capacity:
    """Return what a runner brings, as the core knows it."""
    return Capacity(
        runner=claim.runner,
        incarnation=str(claim.incarnation),
        host=claim.host,
        pool=claim.pool,
        chips=claim.chips,
        cards=claim.cards,
        version=claim.version,
    )


def _read(stored: StoredRunner) -> RunnerRead:
    capacity = stored.capacity
    return RunnerRead.model_validate(
        {
            "name": capacity.runner,
            "host": capacity.host,
            "pool": capacity.pool,
            "chips": capacity.chips,
            "cards": capacity.cards,
            "version": capacity.version,
            "incarnation": UUID(capacity.incarnation),
            "state": stored.state,
            "seen_at": stored.seen_at,
            "job_id": stored.job_id,
        }
    )
