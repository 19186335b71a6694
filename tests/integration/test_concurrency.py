"""Many at once, on both databases: nothing twice, nothing lost, nobody stuck."""

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from threading import Barrier
from typing import TypeVar
from uuid import uuid4

from sqlalchemy import Engine, func, select

from service.formats.orders import JobOrder, Renewal
from service.formats.reports import RunReport
from service.store import jobs
from service.store.database import reading, writing
from service.store.tables import RunRow, SampleRow
from service.usecases.renew_lease import renew_lease
from service.usecases.sweep import sweep
from tests.integration import builders, path
from tests.integration.builders import NEW, NOW
from tests.integration.path import LEASING

WAIT_S = 60.0
Got = TypeVar("Got")


def at_once(calls: Sequence[Callable[[], Got]]) -> list[Got]:
    """Run calls in a thread each, all let go at the same moment, and return what each gave."""
    barrier = Barrier(len(calls))

    def run(call: Callable[[], Got]) -> Got:
        barrier.wait(WAIT_S)
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls, timeout=WAIT_S))


def one_launch_sessions(engine: Engine, number: int) -> None:
    for index in range(number):
        path.submit(engine, builders.session_order(arms=(NEW,), baseline=None), f"s{index}")


def test_the_same_report_from_ten_threads_fifty_times_is_one_run(engine: Engine) -> None:
    path.submit(engine, builders.session_order())
    sent = builders.run_report(path.claimed(engine))

    def send() -> int:
        return sum(path.report(engine, sent).stored for _ in range(50))

    stored = at_once([send] * 10)

    with reading(engine) as session:
        runs = session.scalar(select(func.count()).select_from(RunRow))
        samples = session.scalar(select(func.count()).select_from(SampleRow))
    assert sum(stored) == 1
    assert (runs, samples) == (1, 3)


def _stored(engine: Engine, report: RunReport) -> bool:
    return path.report(engine, report).stored


def test_ten_reports_of_one_cell_are_one_run(engine: Engine) -> None:
    path.submit(engine, builders.session_order())
    order = path.claimed(engine)
    sent = [builders.run_report(order) for _ in range(10)]

    stored = at_once([partial(_stored, engine, each) for each in sent])

    assert sum(stored) == 1


def test_twenty_claimers_take_each_job_once(engine: Engine) -> None:
    one_launch_sessions(engine, 30)

    def work(runner: str) -> list[JobOrder]:
        done = []
        while (order := path.claim(engine, builders.claim(runner, host=runner))) is not None:
            for cell in range(2):
                path.report(engine, builders.run_report(order, cell=cell, launch_id=uuid4()))
            path.finish(engine, order)
            done.append(order)
        return done

    taken = at_once([partial(work, f"r{index}") for index in range(20)])

    times = Counter(order.job_id for orders in taken for order in orders)
    assert len(times) == 30
    assert set(times.values()) == {1}


def test_twenty_claimers_get_one_job_of_one_session(engine: Engine) -> None:
    path.submit(engine, builders.session_order())

    taken = at_once(
        [
            partial(path.claim, engine, builders.claim(f"r{index}", host=f"r{index}"))
            for index in range(20)
        ]
    )

    assert [order.ordinal for order in taken if order is not None] == [0]


def test_one_claim_repeated_at_once_leaves_one_holder(engine: Engine) -> None:
    one_launch_sessions(engine, 3)

    at_once([lambda: path.claim(engine)] * 3)

    with reading(engine) as session:
        states = jobs.counts(session)
    assert states == {"claimed": 1, "queued": 2}


def test_readers_and_writers_of_every_kind_get_along(engine: Engine) -> None:
    one_launch_sessions(engine, 8)

    def live(runner: str) -> int:
        wanted = builders.claim(runner, host=runner)
        order = path.claimed(engine, wanted)
        for step in range(10):
            with writing(engine) as session:
                renewal = Renewal(fencing_token=order.fencing_token)
                renew_lease(session, order.job_id, renewal, leasing=LEASING, now=NOW)
            if step in {3, 6}:
                path.report(engine, builders.run_report(order, cell=step // 6))
            path.read(engine, order.session_id)
        path.finish(engine, order)
        return 1

    def sweep_often() -> int:
        for _ in range(20):
            with writing(engine) as session:
                sweep(session, leasing=LEASING, resend_after=timedelta(seconds=60), now=NOW)
        return 0

    done = at_once(
        [sweep_often, sweep_often, *(lambda name=f"r{index}": live(name) for index in range(8))]
    )

    assert sum(done) == 8
