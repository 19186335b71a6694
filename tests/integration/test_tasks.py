"""The service's own processes on a real broker: they sweep, and outlive a broker that was away."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from typing import Any
from uuid import UUID, uuid4

import pytest
from celery import Celery
from kombu.connection import Connection
from redis import Redis
from sqlalchemy import Engine

from service.config import Settings
from service.formats.nudges import TASK, Nudge
from service.formats.webhooks import DeliveryRead, WebhookOrder
from service.store.database import reading, writing
from service.tasks.app import create_service_celery
from service.tasks.watchdog import DEAF
from service.usecases.keep_webhook import add_webhook, list_deliveries, queue_test
from service.usecases.send_nudges import WAITING_MAX, NudgeSender, create_celery
from tests.integration import builders, path
from tests.integration.databases import free_port, redis
from tests.integration.forges import Receiver, standing_in

pytestmark = [pytest.mark.redis, pytest.mark.timeout(180)]

WAIT_S = 80.0
AWAY_S = 5.0
STOP_S = 20.0


@contextmanager
def process(module: str, environment: dict[str, str]) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a module as a process of its own, and end it."""
    running = subprocess.Popen([sys.executable, "-m", module], env={**os.environ, **environment})
    try:
        yield running
    finally:
        running.terminate()
        try:
            running.wait(STOP_S)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()


def eventually(holds: Callable[[], bool]) -> bool:
    """Return whether something comes to hold within the time a test waits."""
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        if holds():
            return True
        time.sleep(0.1)
    return False


def a_lost_job(engine: Engine, key: str) -> Callable[[], bool]:
    """Claim a job long ago, and return what asks whether it was requeued since."""
    now = datetime.now(UTC)
    pool = f"p-{key}"
    session_id = path.submit(engine, builders.session_order(pool=pool), key, now=now)
    path.claimed(engine, builders.claim(key, pool=pool), now=now - timedelta(minutes=5))
    return lambda: path.read(engine, session_id).jobs[0].state == "queued"


def message_in(url: str, queue: str) -> dict[str, object] | None:
    """Take one message out of a queue and return its headers, or None."""
    with Connection(url) as connection:  # type: ignore[no-untyped-call]  # kombu has no types
        message = connection.default_channel.basic_get(queue)
    return None if message is None else dict(message.headers)


def is_heard(url: str) -> bool:
    """Return whether anybody waits for messages."""
    with Redis.from_url(url) as asking:
        return any(each["cmd"] == "brpop" for each in asking.client_list())


def test_worker_and_scheduler_requeue_lost_jobs_before_and_after_the_broker_was_away(
    engine: Engine, url: str, tmp_path: Path
) -> None:
    port = free_port()
    environment = {
        "KUNLINE_DATABASE_URL": url,
        "KUNLINE_BROKER_URL": f"redis://127.0.0.1:{port}/0",
        "KUNLINE_DATA_DIR": str(tmp_path),
        "KUNLINE_SWEEP_EVERY_S": "0.5",
    }
    with ExitStack() as stack:
        with redis(port=port) as broker:
            worker = stack.enter_context(process("service.tasks.worker", environment))
            # What waits for a worker that is not there yet keeps it busy when its broker goes.
            assert eventually(lambda: is_heard(broker))
            scheduler = stack.enter_context(process("service.tasks.scheduler", environment))
            swept_before = eventually(a_lost_job(engine, "before"))
        time.sleep(AWAY_S)
        stack.enter_context(redis(port=port))
        lost = a_lost_job(engine, "after")
        swept_after = eventually(lambda: lost() or worker.poll() is not None)
        if (code := worker.poll()) is not None:
            # Celery went deaf, which its watchdog is there for: it is started again, as by `up`.
            stack.enter_context(process("service.tasks.worker", environment))
            swept_after = eventually(lost)
        still_there = scheduler.poll() is None

    assert swept_before
    assert swept_after
    assert code in {None, DEAF}
    assert still_there


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_the_worker_tells_webhooks_and_goes_on_sweeping_while_one_hangs(
    engine: Engine, url: str, tmp_path: Path, broker: str
) -> None:
    environment = {
        "KUNLINE_DATABASE_URL": url,
        "KUNLINE_BROKER_URL": broker,
        "KUNLINE_DATA_DIR": str(tmp_path),
        "KUNLINE_SWEEP_EVERY_S": "0.5",
    }
    with ExitStack() as stack:
        receiver = stack.enter_context(standing_in(Receiver()))
        hanging = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        tried(engine, "hanging", f"http://127.0.0.1:{hanging.getsockname()[1]}/hook")
        tried(engine, "oncall", f"{receiver.url}/hook")
        stack.enter_context(process("service.tasks.worker", environment))
        stack.enter_context(process("service.tasks.scheduler", environment))
        swept = eventually(a_lost_job(engine, "meanwhile"))
        # What was taken is settled in a commit of its own, a moment later.
        told = eventually(lambda: stand(engine, "oncall").state == "sent")
        missed = eventually(lambda: stand(engine, "hanging").last_error is not None)
        stands = [stand(engine, name) for name in ("oncall", "hanging")]

    assert (swept, told, missed) == (True, True, True)
    assert len(receiver.requests) == 1
    assert [each.state for each in stands] == ["sent", "waiting"]
    assert stands[1].last_error == "ReadTimeout"


def stand(engine: Engine, name: str) -> DeliveryRead:
    """Return how the one delivery of a webhook stands."""
    with reading(engine) as session:
        found = list_deliveries(session, webhook_id=None, limit=5)
    return next(each for each in found if each.webhook_name == name)


def tried(engine: Engine, name: str, address: str) -> None:
    """Add a webhook and put a test on its way there."""
    order = WebhookOrder(name=name, address=address, secret="x" * 16, why="tried")
    now = datetime.now(UTC)
    with writing(engine) as session:
        webhook = add_webhook(session, order, who="ann", now=now)
        queue_test(session, webhook.id, who="ada", now=now)


def test_a_nudge_names_its_task_its_queue_and_a_job(broker: str) -> None:
    queue, job_id = f"pool.{uuid4().hex}", uuid4()
    sender = NudgeSender(create_celery("test", broker))
    sender([Nudge(queue, job_id)])
    sender.close(STOP_S)

    headers = message_in(broker, queue)

    assert headers is not None
    assert headers["task"] == TASK
    assert str(job_id) in str(headers["kwargsrepr"])


def test_a_broker_that_is_away_never_holds_a_request_up() -> None:
    celery = Waiting()
    sender = NudgeSender(celery)

    sender([Nudge("pool.x", UUID(int=index)) for index in range(2000)])

    sent_by_then = celery.sent
    celery.is_back.set()
    sender.close(STOP_S)
    assert sent_by_then == 0
    assert WAITING_MAX <= celery.sent <= WAITING_MAX + 1


def test_what_is_dropped_is_told_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    celery = Waiting()
    sender = NudgeSender(celery)

    sender([Nudge("pool.x", UUID(int=index)) for index in range(2000)])

    celery.is_back.set()
    sender.close(STOP_S)
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_a_send_that_fails_in_an_unforeseen_way_is_not_the_senders_last(broker: str) -> None:
    celery, queue = create_celery("test", broker), f"pool.{uuid4().hex}"
    sender = NudgeSender(Failing(celery))
    sender([Nudge("pool.x", uuid4()), Nudge(queue, uuid4())])
    sender.close(STOP_S)

    assert message_in(broker, queue) is not None


class Waiting(Celery):  # type: ignore[misc]  # celery has no types
    """An application whose sends wait until the broker is back."""

    def __init__(self) -> None:
        super().__init__("waiting", set_as_current=False)
        self.is_back = Event()
        self.sent = 0

    def send_task(self, *words: Any, **more: Any) -> None:
        assert self.is_back.wait(WAIT_S)
        self.sent += 1


class Failing(Celery):  # type: ignore[misc]  # celery has no types
    """An application whose first send fails as none of the broker's errors does."""

    def __init__(self, celery: Celery) -> None:
        super().__init__("failing", set_as_current=False)
        self.celery = celery
        self.failed = False

    def send_task(self, *words: Any, **more: Any) -> Any:
        if not self.failed:
            self.failed = True
            raise LookupError("nobody foresaw this")
        return self.celery.send_task(*words, **more)


def test_the_worker_takes_early_retries_never_and_keeps_tasks_through_a_lost_connection() -> None:
    celery: Celery = create_service_celery(
        Settings(database_url="sqlite:///nowhere.db", broker_url="redis://127.0.0.1:1/0")
    )

    assert celery.conf.task_acks_late is False
    assert celery.conf.worker_cancel_long_running_tasks_on_connection_loss is False
    assert celery.conf.broker_transport_options["visibility_timeout"] == 12 * 3600
    assert celery.conf.accept_content == ["json"]
