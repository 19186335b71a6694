"""The service's own Celery application: what worker and scheduler share, and when the sweep runs.

The scheduler only says when: nothing that the sweep needs is loaded here.
"""

import sys
from datetime import timedelta

from celery import Celery

from service.config import Settings, read_settings
from service.usecases.send_nudges import create_celery

QUEUE = "service"
SWEEP = "service.sweep"
SWEEP_USEFUL_S = 60.0


def read_settings_with_broker() -> Settings:
    """Return the settings of this process, or end it with 2 where they name no broker.

    Celery would else look for one of its own choice, for ever.
    """
    settings = read_settings()
    if not settings.broker_url:
        sys.stderr.write("kunline: set KUNLINE_BROKER_URL: worker and scheduler need a broker\n")
        raise SystemExit(2)
    return settings


def create_service_celery(settings: Settings) -> Celery:
    """Return the application whose worker sweeps and whose scheduler says when.

    Messages are acknowledged before they are worked on and never retried: each sweep does what
    an earlier one left, so a lost message costs a few seconds.
    """
    celery = create_celery("service", settings.broker_url)
    celery.conf.update(
        task_default_queue=QUEUE,
        task_acks_late=False,
        worker_concurrency=1,
        worker_prefetch_multiplier=1,
        worker_hijack_root_logger=False,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        worker_enable_remote_control=False,
        beat_schedule={
            "sweep": {
                "task": SWEEP,
                "schedule": timedelta(seconds=settings.sweep_every_s),
                # An old sweep is of no use; two hosts' clocks may differ by less than this.
                "options": {"expires": max(SWEEP_USEFUL_S, settings.sweep_every_s), "queue": QUEUE},
            }
        },
    )
    return celery
