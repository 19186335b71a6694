"""The watchdog: who hears none of its own messages is deaf; a broker that is away is not."""

from threading import Event

import pytest
from celery import Celery
from celery.signals import worker_ready

from service.tasks.watchdog import TASK, Watchdog, watch


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


class Broker:
    away = False
    sent = 0

    def __call__(self) -> None:
        if self.away:
            raise ConnectionRefusedError
        self.sent += 1


def watchdog(clock: Clock, broker: Broker) -> Watchdog:
    return Watchdog(broker, deaf_after_s=300.0, clock=clock)


def test_a_worker_that_hears_nothing_of_what_was_sent_is_deaf_in_the_end() -> None:
    clock, broker = Clock(), Broker()
    watched = watchdog(clock, broker)

    told = []
    for _ in range(11):
        told.append(watched.is_deaf())
        clock.now += 30.0

    assert told == [False] * 10 + [True]
    assert broker.sent == 11


def test_one_message_that_comes_back_begins_the_time_anew() -> None:
    clock = Clock()
    watched = watchdog(clock, Broker())
    watched.is_deaf()
    clock.now += 290.0
    watched.heard()

    assert not watched.is_deaf()
    clock.now += 299.0
    assert not watched.is_deaf()
    clock.now += 1.0
    assert watched.is_deaf()


def test_a_worker_at_a_long_task_is_not_deaf_and_begins_anew_when_it_is_done() -> None:
    clock = Clock()
    watched = watchdog(clock, Broker())
    watched.at_work(is_at_work=True)
    clock.now += 5000.0

    assert not watched.is_deaf()
    watched.at_work(is_at_work=False)
    assert not watched.is_deaf()
    clock.now += 300.0
    assert watched.is_deaf()


def test_a_broker_that_is_away_makes_nobody_deaf() -> None:
    clock, broker = Clock(), Broker()
    watched = watchdog(clock, broker)
    watched.is_deaf()
    broker.away = True
    clock.now += 1000.0

    assert not watched.is_deaf()
    broker.away = False
    assert not watched.is_deaf()


def test_a_deaf_worker_is_ended_with_a_code_that_says_try_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    codes: list[int] = []
    ended = Event()

    def end(code: int) -> None:
        codes.append(code)
        ended.set()

    celery = Celery("watched", broker="memory://", set_as_current=False)
    monkeypatch.setattr(Watchdog, "is_deaf", lambda _: True)

    watch(celery, "queue", end=end)
    for _, begin in worker_ready.send(sender=None):
        assert begin is None

    assert ended.wait(10.0)
    assert codes == [75]
    assert TASK in celery.tasks
