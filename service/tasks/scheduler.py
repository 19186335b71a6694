"""The service's scheduler process: python -m service.tasks.scheduler."""

from celery.apps.beat import Beat
from celery.beat import Scheduler

from service.tasks.app import create_service_celery, read_settings_with_broker


def main() -> None:
    """Send each task when its time comes, until a signal says otherwise.

    The times are kept in memory alone: all that recurs here recurs within seconds.
    """
    celery = create_service_celery(read_settings_with_broker())
    Beat(app=celery, scheduler_cls=Scheduler, quiet=True, loglevel="WARNING").run()


if __name__ == "__main__":
    main()
