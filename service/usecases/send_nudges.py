"""Send nudges: after the commit, beside the request, and never in its way."""

import queue
import threading
from collections import Counter
from collections.abc import Iterable
from typing import Protocol

import structlog
from celery import Celery
from kombu.exceptions import KombuError
from redis.exceptions import RedisError

from service.formats.nudges import EXPIRES_S, TASK, VISIBILITY_TIMEOUT_S, Nudge

LOG = structlog.get_logger(__name__)
# What a sender that cannot reach its broker keeps; the sweep sends again what is dropped.
WAITING_MAX = 1000
BROKER_TIMEOUT_S = 2.0
# Whatever a broker that is away, full or starting has to say.
SEND_ERRORS = (KombuError, RedisError, OSError)


class Announcer(Protocol):
    """Whoever passes nudges on."""

    def __call__(self, nudges: Iterable[Nudge]) -> None:
        """Pass nudges on, soon or never; never raises and never waits."""


def nobody(nudges: Iterable[Nudge]) -> None:
    """Pass nothing on: without a broker runners ask by themselves."""


def create_celery(name: str, broker_url: str) -> Celery:
    """Return a Celery application with what must be the same in every process of Kunline."""
    celery = Celery(name, broker=broker_url, set_as_current=False)
    celery.conf.update(
        task_serializer="json",
        accept_content=["json"],
        result_backend=None,
        task_ignore_result=True,
        broker_transport_options={
            "visibility_timeout": VISIBILITY_TIMEOUT_S,
            "socket_connect_timeout": BROKER_TIMEOUT_S,
            "socket_keepalive": True,
            "health_check_interval": 30,
        },
    )
    return celery


class NudgeSender:
    """A thread that sends what it is given; a broker that is away costs nudges, nothing else."""

    def __init__(self, celery: Celery) -> None:
        self._celery = celery
        self._waiting: queue.Queue[Nudge | None] = queue.Queue(WAITING_MAX)
        self._given_up = threading.Event()
        self._thread = threading.Thread(target=self._run, name="nudges", daemon=True)
        self._thread.start()

    def __call__(self, nudges: Iterable[Nudge]) -> None:
        """Pass nudges on; what does not fit is dropped, and sent again by a later sweep."""
        dropped: Counter[str] = Counter()
        for nudge in nudges:
            try:
                self._waiting.put_nowait(nudge)
            except queue.Full:
                dropped[nudge.queue] += 1
        if dropped:
            # Once for all: a line for each would hold its caller up as the broker must not.
            LOG.warning("nudges dropped", dropped=dict(dropped))

    def close(self, timeout_s: float = BROKER_TIMEOUT_S) -> None:
        """Send what is waiting, as far as the time allows, and end the thread."""
        try:
            self._waiting.put(None, timeout=timeout_s)
        except queue.Full:
            LOG.warning("nudges dropped at the end", waiting=self._waiting.qsize())
        else:
            self._thread.join(timeout_s)
        self._given_up.set()

    def _run(self) -> None:
        while (nudge := self._waiting.get()) is not None and not self._given_up.is_set():
            try:
                send(self._celery, nudge)
            except Exception as error:  # noqa: BLE001 — the thread must outlive whatever one send brings
                LOG.warning("nudge not sent", queue=nudge.queue, error=str(error))


def send(celery: Celery, nudge: Nudge) -> None:
    """Send one nudge, without a second try. Raises one of SEND_ERRORS."""
    celery.send_task(
        TASK,
        kwargs={"job_id": str(nudge.job_id)},
        queue=nudge.queue,
        expires=EXPIRES_S,
        ignore_result=True,
        retry=False,
    )
