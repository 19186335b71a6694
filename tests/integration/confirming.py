"""Confirms for tests: what is asked of the nights with a step, and a runner that measures it."""

import random
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import Engine

from service.domain.confirm import Budget, Cost
from service.domain.job import JobState
from service.domain.layer import Layer
from service.formats.confirms import ConfirmOrder, ConfirmRead
from service.formats.events import EventRead
from service.formats.incidents import IncidentRead
from service.formats.orders import JobOrder
from service.formats.reports import Broken
from service.store import jobs
from service.store.confirms import ConfirmFilter
from service.store.database import reading, writing
from service.store.incidents import IncidentFilter
from service.usecases.open_confirm import open_confirm
from service.usecases.read_confirms import list_confirms, read_confirm
from service.usecases.read_incidents import list_incidents
from service.usecases.sweep import sweep
from service.usecases.tend_confirms import tend_confirms
from tests.integration import builders, path

LAUNCH_S = 60.0
# How much slower the stack is that the event was seen in.
SLOWER = 1.12
BROKEN = Broken(layer=Layer.SERVER, finding="died while loading", remedy="look at its log")
BUDGET = Budget()
# What a launch is scaled by: by its stack's name.
Scale = Callable[[str], float]


def swept(engine: Engine, *, budget: Budget = BUDGET, now: datetime) -> None:
    with writing(engine) as session:
        sweep(session, leasing=path.LEASING, resend_after=timedelta(hours=1), now=now)
    with writing(engine) as session:
        tend_confirms(session, budget=budget, now=now)


def asked(
    engine: Engine,
    event_id: UUID,
    *,
    budget: Budget = BUDGET,
    launches: int | None = None,
    now: datetime,
) -> ConfirmRead:
    order = ConfirmOrder(event_id=event_id, why="to be sure", launches=launches)
    with writing(engine) as session:
        confirm_id = open_confirm(session, order, budget=budget, who="ann", now=now)
        return read_confirm(session, confirm_id)


def read(engine: Engine, confirm_id: UUID) -> ConfirmRead:
    with reading(engine) as session:
        return read_confirm(session, confirm_id)


def cost(launches: int, card_s: float = 1e6) -> Cost:
    return Cost(launches, card_s)


def measure(
    engine: Engine,
    scale: Scale,
    *,
    most: int = 100,
    launch_s: float = LAUNCH_S,
    now: datetime,
) -> list[str]:
    """Do the jobs that are queued, at most so many, and return the stacks that were launched."""
    done: list[str] = []
    runner = builders.claim("h1", host="h1", incarnation=UUID(int=99))
    noise = random.Random(7)
    while len(done) < most and (job := path.claim(engine, runner, now=now)) is not None:
        name = job.stack.stack.name
        do_job(engine, job, scale(name) * (1 + noise.gauss(0, 0.002)), launch_s=launch_s, now=now)
        done.append(name)
    return done


def do_job(
    engine: Engine,
    job: JobOrder,
    scale: float,
    *,
    launch_s: float = LAUNCH_S,
    now: datetime,
    broken: Broken | None = None,
    ttft: float = 1.0,
) -> None:
    """Report a launch and its cells, or that it broke, and finish its job.

    ttft: what its times to the first token are scaled by beside.
    """
    launch = builders.launch_report(job, launch_id=job.job_id, broken=broken)
    began = {"started_at": now, "stopped_at": now + timedelta(seconds=launch_s)}
    path.tell_launch(engine, launch.model_copy(update=began))
    for cell in range(0 if broken else len(job.launch.cells)):
        sent = builders.run_report(job, cell=cell, launch_id=job.job_id, scale=scale)
        slow = tuple(ttft * each for each in sent.values["ttft_p50"])
        values = {**sent.values, "ttft_p50": slow}
        path.report(engine, sent.model_copy(update={"values": values}))
    path.finish(engine, job, now=now)


def after(event: EventRead, *, hours: float = 1.0) -> datetime:
    return event.seen_at + timedelta(hours=hours)


def measured(
    engine: Engine,
    event: EventRead,
    *,
    slower: float = SLOWER,
    most: int = 100,
    launch_s: float = 60.0,
    hours: float = 1.0,
) -> list[str]:
    """Do what is queued; only the stack that the event was seen in is slower."""

    def scale(name: str) -> float:
        return slower if name == event.seen_stack_name else 1.0

    return measure(engine, scale, most=most, launch_s=launch_s, now=after(event, hours=hours))


def confirms_of(engine: Engine) -> tuple[ConfirmRead, ...]:
    with reading(engine) as session:
        return list_confirms(session, ConfirmFilter(), limit=10, cursor=None).confirms


def incidents_of(engine: Engine) -> tuple[IncidentRead, ...]:
    with reading(engine) as session:
        return list_incidents(session, IncidentFilter(), limit=10, cursor=None).incidents


def states_of(engine: Engine, confirm: ConfirmRead) -> Counter[JobState]:
    with reading(engine) as session:
        found = jobs.of_session(session, confirm.session_id or confirm.id)
        return Counter(job.state for job in found)


def claimed_and_broken(engine: Engine, event: EventRead) -> str:
    runner = builders.claim("h1", host="h1", incarnation=UUID(int=99))
    job = path.claimed(engine, runner, now=after(event))
    do_job(engine, job, 1.0, now=after(event), broken=BROKEN)
    return job.stack.stack.name
