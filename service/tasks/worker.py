"""The service's worker process: python -m service.tasks.worker."""

from service.tasks.app import QUEUE, create_service_celery, read_settings_with_broker
from service.tasks.sweeping import add_sweep
from service.tasks.watchdog import watch


def main() -> None:
    """Work until a signal says otherwise, without a thought for other workers."""
    settings = read_settings_with_broker()
    celery = create_service_celery(settings)
    add_sweep(celery, settings)
    watch(celery, QUEUE)
    celery.worker_main(
        [
            "worker",
            "--pool=solo",
            f"--queues={QUEUE}",
            "--without-mingle",
            "--without-gossip",
            "--without-heartbeat",
            "--loglevel=WARNING",
        ]
    )


if __name__ == "__main__":
    main()
