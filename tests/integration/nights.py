"""Nights for the screen's tests: a session each, of one new stack, with noise from a fixed seed."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, timedelta
from uuid import UUID

from sqlalchemy import Engine

from service.domain.condition import Condition
from service.domain.stack import Stack
from service.formats.orders import JobOrder
from service.formats.sessions import SessionOrder
from service.store.database import create_database
from tests.integration import builders, path
from tests.integration.builders import NOW

FIRST = date(2026, 10, 1)
CELLS = tuple(builders.condition(concurrency=each) for each in (1, 2, 4, 8))
# How much slower a cell is in a night; 1 is as ever.
Slower = Callable[[int, int], float]
# The night that a played history gets slower at, and how many nights it has.
STEP, NIGHTS = 13, 20


def stack_of(night: int) -> Stack:
    return replace(builders.stack(f"0.6.{night}"), name=f"nightly-{night}")


def _built_at(of: Stack) -> date:
    """Return when a stack was built: a nightly on its night, any other before them all."""
    _, found, night = of.name.partition("nightly-")
    return FIRST + timedelta(days=int(night) if found else -1)


def order_of(
    night: int, *, conditions: Sequence[Condition] = CELLS, arms: Sequence[Stack] = ()
) -> SessionOrder:
    """Build the order of a night: its own stack alone, or several arms held to the first."""
    order = builders.session_order(
        arms=arms or (stack_of(night),), conditions=conditions, baseline=arms[0] if arms else None
    )
    stacks = tuple(
        each.model_copy(update={"built_at": _built_at(each.stack)}) for each in order.stacks
    )
    return order.model_copy(update={"stacks": stacks})


def do_night(
    engine: Engine,
    night: int,
    *,
    host: str = "h1",
    slower: Slower = lambda *_: 1.0,
    conditions: Sequence[Condition] = CELLS,
    arms: Sequence[Stack] = (),
    finished: bool = True,
) -> tuple[UUID, JobOrder]:
    """Measure one night on one host, and return its session and its last job."""
    order = order_of(night, conditions=conditions, arms=arms)
    session_id = path.submit(engine, order, f"{host} {night}", now=NOW + timedelta(days=night))
    runner = builders.claim(host, host=host, incarnation=UUID(int=night + 1))
    noise = random.Random(f"{host} {night}")
    job = path.claimed(engine, runner)
    while True:
        _do_job(engine, job, night, noise, host=host, slower=slower)
        if finished:
            path.finish(engine, job, now=NOW + timedelta(days=night))
        following = path.claim(engine, runner) if finished else None
        if following is None:
            return session_id, job
        job = following


def do_nights(engine: Engine, nights: Sequence[int], **how: object) -> list[UUID]:
    """Measure many nights."""
    return [do_night(engine, night, **how)[0] for night in nights]  # type: ignore[arg-type]  # passed on


def step(night: int, cell: int) -> float:
    """Return the slowness of a history that has one step, in two of its cells."""
    return 1.08 if night >= STEP and cell < 2 else 1.0


def nights_with_a_step(engine: Engine) -> None:
    """Measure nights with one step in them."""
    do_nights(engine, range(NIGHTS), slower=step)


def play(url: str, scene: Callable[[Engine], object]) -> None:
    """Play a scene into a migrated database."""
    opened = create_database(url, connections=5)
    scene(opened)
    with opened.connect() as connection:
        if connection.dialect.name == "sqlite":
            # What is still in the log beside the file would not be copied with it.
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    opened.dispose()


def _do_job(
    engine: Engine, job: JobOrder, night: int, noise: random.Random, *, host: str, slower: Slower
) -> None:
    launch = builders.launch_report(job, launch_id=job.job_id)
    path.tell_launch(engine, launch.model_copy(update={"host": host}))
    luck = noise.gauss(0, 0.004)
    for cell in range(len(job.launch.cells)):
        scale = (1 + luck + noise.gauss(0, 0.006)) * slower(night, cell)
        sent = builders.run_report(job, cell=cell, launch_id=job.job_id, scale=scale)
        at = NOW + timedelta(days=night)
        path.report(
            engine,
            sent.model_copy(update={"measured_at": at, "finished_at": at + timedelta(seconds=10)}),
        )
