"""Claim a job: the oldest one that fits goes to a runner, whole and with a lease."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from service.domain.cell import Cell
from service.domain.job import JobState, Leasing
from service.formats.identities import KeyedCondition, KeyedProtocol
from service.formats.orders import CellOrder, Claim, JobOrder, LaunchOrder
from service.store import card_leases, conditions, jobs, protocols, runners, runs, sessions
from service.store.database import WriteSession
from service.store.jobs import StoredJob
from service.usecases.end_session import end_session
from service.usecases.know_runner import capacity_of
from service.usecases.lose_job import lose_job
from service.usecases.session_content import asked_of

# A job whose cells all arrived while it was queued is ended here; then the next one is looked at.
LOOKS = 10
# A question that was sent again and again is as old; a clock that nobody sets is off by more.
APART_MAX = timedelta(minutes=5)


class ClocksApartError(ValueError):
    """A runner's clock is wrong, or the service's: what it measured could not be put in order."""

    def __init__(self, host: str, apart: timedelta) -> None:
        direction = "ahead of" if apart > timedelta() else "behind"
        super().__init__(
            f"the clock of {host} is {abs(apart).total_seconds():.0f} s {direction} the service's: "
            "set both by one time server; until then it gets no job"
        )


def claim_job(
    session: WriteSession, claim: Claim, *, leasing: Leasing, now: datetime
) -> JobOrder | None:
    """Return a job to do now, or None.

    A runner does one job at a time, so whatever it still holds is lost with this call. A paused
    or draining runner gets nothing. A solo job has its host's cards alone; packed ones share them.
    Only cells without a run are in the order.
    Raises CardsLeasedError where another runner that is still heard of holds one of its cards, and
    ClocksApartError.
    """
    if claim.asked_at is not None and abs(claim.asked_at - now) > APART_MAX:
        raise ClocksApartError(claim.host, claim.asked_at - now)
    capacity = capacity_of(claim)
    jobs.hold_host(session, claim.host)
    runners.see(session, capacity, now=now)
    until = leasing.until(now)
    card_leases.take(session, claim.host, claim.held, runner=claim.runner, now=now, until=until)
    for held in jobs.held_by(session, claim.runner):
        lose_job(session, held, leasing=leasing, now=now)
    if runners.read(session, claim.runner).state != "active":
        return None
    for _ in range(LOOKS):
        job = jobs.claim_next(session, capacity, now=now, lease_until=until)
        if job is None:
            return None
        sessions.start(session, job.session_id, host=claim.host)
        if missing := missing_cells(session, job):
            return _order(session, job, missing, leasing)
        jobs.move(session, job, JobState.REPORTED, now=now)
        end_session(session, job.session_id, now=now)
    return None


def missing_cells(session: WriteSession, job: StoredJob) -> tuple[CellOrder, ...]:
    """Return a job's cells that have no run yet, in their order."""
    reported = runs.cells_of_job(session, job.id)
    cells = (CellOrder.model_validate(cell) for cell in job.launch["cells"])
    return tuple(
        cell for cell in cells if Cell(cell.condition_key, cell.protocol_key) not in reported
    )


def _order(
    session: WriteSession, job: StoredJob, missing: tuple[CellOrder, ...], leasing: Leasing
) -> JobOrder:
    launch = LaunchOrder.model_validate({**job.launch, "cells": missing})
    asked = asked_of(sessions.read(session, job.session_id))
    return JobOrder(
        job_id=job.id,
        session_id=job.session_id,
        attempt=job.attempt,
        fencing_token=job.fencing_token,
        lease_s=leasing.lease.total_seconds(),
        ordinal=job.ordinal,
        stack=next(stack for stack in asked.stacks if stack.key == launch.stack_key),
        model=next(model for model in asked.models if model.id == launch.model_id),
        client=next(client for client in asked.clients if client.name == launch.client),
        launch=launch,
        conditions=_conditions(session, {cell.condition_key for cell in missing}),
        protocols=_protocols(session, {cell.protocol_key for cell in missing}),
        limits=asked.limits,
    )


def _conditions(session: WriteSession, keys: Iterable[str]) -> tuple[KeyedCondition, ...]:
    found = conditions.by_key(session, keys)
    return tuple(KeyedCondition(key=key, condition=found[key]) for key in sorted(found))


def _protocols(session: WriteSession, keys: Iterable[str]) -> tuple[KeyedProtocol, ...]:
    found = protocols.by_key(session, keys)
    return tuple(KeyedProtocol(key=key, protocol=found[key]) for key in sorted(found))
