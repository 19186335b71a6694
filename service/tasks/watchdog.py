"""The watchdog of a worker: it sends messages to itself, and ends a worker that hears none.

A worker may stop to consume after its broker was away, and looks well from outside
(celery issues 8091, 9054 and 10205): it does so whenever the broker goes just as a message is being
acknowledged. Whatever started the process starts it again.
"""

import os
import sys
import time
from collections.abc import Callable
from threading import Event, Lock, Thread

import structlog
from celery import Celery
from celery.signals import task_postrun, task_prerun, worker_ready

from service.usecases.send_nudges import SEND_ERRORS

LOG = structlog.get_logger(__name__)
TASK = "service.heard"
EVERY_S = 5.0
# Longer than a worker waits at most until it tries again to reach a broker that is back.
DEAF_AFTER_S = 45.0
# A message of ours that nobody hears is not worth keeping for longer.
EXPIRES_S = 300.0
# EX_TEMPFAIL of sysexits.h: try again.
DEAF = 75


class Watchdog:
    """Counts the time since a message that was sent and not heard, while the worker is idle.

    A worker at a task hears nothing until it is done, however long that takes. send: sends one
    to this worker; raises one of SEND_ERRORS where the broker is away, which is no deafness.
    clock: seconds that only grow.
    """

    def __init__(
        self,
        send: Callable[[], None],
        *,
        deaf_after_s: float = DEAF_AFTER_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._send = send
        self._deaf_after_s = deaf_after_s
        self._clock = clock
        self._lock = Lock()
        self._is_at_work = False
        self._unheard_since: float | None = None

    def heard(self) -> None:
        """Note that a message came: one of our own, or any other."""
        with self._lock:
            self._unheard_since = None

    def at_work(self, *, is_at_work: bool) -> None:
        """Note that the worker begins a task or is done with it: either way it heard of it."""
        with self._lock:
            self._is_at_work = is_at_work
            self._unheard_since = None

    def is_deaf(self) -> bool:
        """Send one more message and return whether none came back for too long."""
        try:
            self._send()
        except SEND_ERRORS:
            self.heard()
            return False
        with self._lock:
            if self._is_at_work:
                return False
            now = self._clock()
            self._unheard_since = now if self._unheard_since is None else self._unheard_since
            return now - self._unheard_since >= self._deaf_after_s


def watch(celery: Celery, queue: str, *, end: Callable[[int], None] = os._exit) -> Watchdog:
    """Watch a worker from a thread, from when it is ready on. end: called with an exit code."""

    def send() -> None:
        celery.send_task(TASK, queue=queue, expires=EXPIRES_S, ignore_result=True, retry=False)

    watchdog = Watchdog(send)

    @celery.task(name=TASK)  # type: ignore[untyped-decorator]  # Celery says no types
    def heard(**_: object) -> None:
        """Note that this worker hears; ignore what a newer one may add to the message."""
        watchdog.heard()

    def begin(**_: object) -> None:
        Thread(target=_until_deaf, args=(watchdog, end), name="watchdog", daemon=True).start()

    def at_work(**_: object) -> None:
        watchdog.at_work(is_at_work=True)

    def done(**_: object) -> None:
        watchdog.at_work(is_at_work=False)

    worker_ready.connect(begin, weak=False)
    task_prerun.connect(at_work, weak=False)
    task_postrun.connect(done, weak=False)
    return watchdog


def _until_deaf(watchdog: Watchdog, end: Callable[[int], None]) -> None:
    while not watchdog.is_deaf():
        Event().wait(EVERY_S)
    LOG.critical("no message of its own came back: this worker is deaf and ends")
    sys.stderr.flush()
    end(DEAF)
