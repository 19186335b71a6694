"""The sweep as a task of the service's worker: lost jobs, confirms, and what is to be told."""

import os
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib.metadata import version

import structlog
from celery import Celery
from sqlalchemy import Engine
from sqlalchemy.exc import InterfaceError, OperationalError

from service.config import Settings
from service.formats.nudges import Nudge
from service.store.database import create_database, writing
from service.tasks.app import SWEEP
from service.tasks.notifications import send_notifications
from service.usecases.derive_compat import derive_compat
from service.usecases.judge_squares import rule_of
from service.usecases.send_nudges import SEND_ERRORS, send
from service.usecases.sweep import Swept, sweep
from service.usecases.tend_confirms import tend_confirms

LOG = structlog.get_logger(__name__)
# As many stacks as one sweep tells the compatibility table anew of.
TOLD_AT_ONCE = 10


def add_sweep(celery: Celery, settings: Settings) -> None:
    """Let whoever works for an application sweep when its scheduler says so."""
    engine = create_database(settings.database, connections=2)
    now = partial(datetime.now, UTC)

    @celery.task(name=SWEEP)  # type: ignore[untyped-decorator]  # Celery says no types
    def run(**_: object) -> None:
        """Sweep once; ignore what a newer scheduler may add to the message."""
        try:
            swept = sweep_once(engine, settings, now=now())
        except (OperationalError, InterfaceError) as error:
            # The database is away: the next sweep is a few seconds off.
            LOG.warning("sweep put off", error=str(error))
            return
        send_all(celery, swept.nudges)
        confirm(engine, settings, celery, now=now())
        tell(engine, settings, now)


def sweep_once(engine: Engine, settings: Settings, *, now: datetime) -> Swept:
    """Sweep and commit, and return what is to be said once that is done."""
    with writing(engine) as session:
        swept = sweep(
            session,
            leasing=settings.leasing,
            resend_after=timedelta(seconds=settings.resend_after_s),
            now=now,
        )
    with writing(engine) as session:
        derive_compat(session, rule=rule_of(version("kunline")), limit=TOLD_AT_ONCE, now=now)
    if swept.requeued or swept.given_up:
        LOG.info("swept", requeued=len(swept.requeued), given_up=len(swept.given_up))
    return swept


def confirm(engine: Engine, settings: Settings, celery: Celery, *, now: datetime) -> None:
    """Look after confirms, apart from the sweep: leases and nights never wait for one."""
    try:
        with writing(engine) as session:
            begun = tend_confirms(session, budget=settings.budget, now=now)
    except (OperationalError, InterfaceError) as error:
        LOG.warning("confirms put off", error=str(error))
        return
    send_all(celery, begun)


def tell(engine: Engine, settings: Settings, now: Callable[[], datetime]) -> None:
    """Send the notifications that are due; a database that is away leaves them to a later sweep."""
    try:
        send_notifications(engine, os.environ, base=settings.public_url, now=now)
    except (OperationalError, InterfaceError) as error:
        LOG.warning("notifications put off", error=str(error))


def send_all(celery: Celery, nudges: Iterable[Nudge]) -> None:
    """Send nudges; a broker that is away is told of by the log alone."""
    for nudge in nudges:
        try:
            send(celery, nudge)
        except SEND_ERRORS as error:
            LOG.warning("nudge not sent", queue=nudge.queue, error=str(error))
            return
