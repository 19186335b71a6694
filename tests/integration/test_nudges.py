"""Nudges over a real broker: they wake the runner, and a broker's restart only delays them."""

import time
from threading import Event

import pytest
from celery import Celery

from runners.tasks import create_worker, listen
from service.formats.nudges import TASK, VISIBILITY_TIMEOUT_S, host_queue, pool_queue
from tests.integration.databases import free_port, redis


def send(url: str, queue: str) -> None:
    celery = Celery("service", broker=url, set_as_current=False)
    celery.conf.broker_transport_options = {"visibility_timeout": VISIBILITY_TIMEOUT_S}
    celery.send_task(TASK, kwargs={"job_id": "j", "of_a_newer_service": 1}, queue=queue)


# One test and one listener: Celery's event loop is one a process, as a runner's is.
@pytest.mark.redis
@pytest.mark.filterwarnings("ignore::celery.exceptions.CPendingDeprecationWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_messages_to_pool_and_host_wake_the_runner_before_and_after_a_broker_restart() -> None:
    port, nudged, ending = free_port(), Event(), Event()
    with redis(port=port) as url:
        thread = listen(create_worker(url, pool="p", host="h", nudged=nudged), ending=ending)
        woken = []
        for queue in (pool_queue("p"), host_queue("h")):
            send(url, queue)
            woken.append(nudged.wait(20))
            nudged.clear()
    time.sleep(2)

    with redis(port=port) as url:
        deadline = time.monotonic() + 40
        while not nudged.wait(1) and time.monotonic() < deadline:
            send(url, pool_queue("p"))
        still_there = thread.is_alive()
        ending.set()

    assert woken == [True, True]
    assert nudged.is_set()
    assert still_there
