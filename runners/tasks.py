"""The runner as a Celery worker: a message says that there may be work, and nothing else."""

from threading import Event, Thread
from typing import Any

import structlog
from celery import Celery

from service.formats.nudges import TASK, VISIBILITY_TIMEOUT_S, host_queue, pool_queue

AGAIN_S = 5.0

log = structlog.get_logger()


def create_worker(broker_url: str, *, pool: str, host: str, nudged: Event) -> Celery:
    """Build the worker that listens for one pool and one host. nudged: set by every message."""
    worker = Celery("runners", broker=broker_url, set_as_current=False)
    worker.conf.update(
        task_default_queue=pool_queue(pool),
        task_ignore_result=True,
        task_acks_late=False,
        worker_prefetch_multiplier=1,
        worker_disable_prefetch=True,
        worker_enable_remote_control=False,
        worker_send_task_events=False,
        worker_hijack_root_logger=False,
        # A broker that goes away takes no measurement along: it is only waited for.
        worker_cancel_long_running_tasks_on_connection_loss=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_heartbeat=0,
        broker_transport_options={
            "visibility_timeout": VISIBILITY_TIMEOUT_S,
            "socket_keepalive": True,
            "socket_connect_timeout": 5,
            "health_check_interval": 30,
            "retry_on_timeout": True,
        },
    )

    def nudge(**_: object) -> None:
        """Wake the loop; ignore what a newer service may add to the message."""
        nudged.set()

    worker.task(name=TASK)(nudge)
    worker.amqp.queues.select([pool_queue(pool), host_queue(host)])
    return worker


def listen(worker: Celery, *, ending: Event) -> Thread:
    """Start listening in a thread that dies with the process; what ends it early starts it again.

    It runs in one thread, without a pool of processes: a nudge only sets an event.
    """

    def listening() -> None:
        while not ending.is_set():
            controller: Any = worker.WorkController(
                app=worker,
                pool="solo",
                concurrency=1,
                without_mingle=True,
                without_gossip=True,
                without_heartbeat=True,
                quiet=True,
            )
            try:
                controller.start()
            except (Exception, SystemExit) as error:  # noqa: BLE001 — no broker trouble ends the runner
                log.warning("the message listener ended", error=f"{type(error).__name__}: {error}")
            ending.wait(AGAIN_S)

    thread = Thread(target=listening, name="nudges", daemon=True)
    thread.start()
    return thread
