"""The runner's process: `python -m runners.worker`, with its settings in KUNLINE_ variables."""

import logging
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from threading import Event, Thread
from uuid import uuid4

import structlog
from pydantic import ValidationError

from runners.cards import CardsTakenError, held_cards, held_host
from runners.config import Settings
from runners.delivery import Courier, Spool
from runners.devices.allocation import AllocationError, allocated
from runners.devices.device import Card, DeviceInterfaceError, UnknownChipError, device_for
from runners.devices.host import DeviceError
from runners.loop import Loop
from runners.run_job import Stop, StoppedError
from runners.steps import HostSteps
from runners.tasks import create_worker, listen
from service.client import Client, connected
from service.formats.orders import Claim
from service.formats.wrong_settings import told

# One answer of the service is waited for so long: a report is kept on disk and sent again.
ANSWER_S = 15.0
CANNOT_START = (
    AllocationError,
    CardsTakenError,
    UnknownChipError,
    DeviceInterfaceError,
    DeviceError,
    OSError,
)
LOOP_FAILED = "the loop failed"
# Logs, samples and reports of a launch of hours are some hundred megabytes.
LEAST_FREE_BYTES = 2**29

log = structlog.get_logger()


def main() -> int:
    """Run until SIGTERM or SIGINT; the present launch is then stopped, and its job handed back."""
    try:
        settings = Settings()
    except ValidationError as error:
        sys.stderr.write(f"kunline: these settings are wrong:\n{told(error)}\n")
        return 2
    _log_to_stderr(settings)
    ending = Stop()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda got, _frame: ending.give(signal.Signals(got).name))
    try:
        device = device_for(settings.chip)
        every = allocated(device.cards(), settings.allocated, os.environ)
        with (
            held_cards(
                every,
                chip=settings.chip,
                count=settings.cards or len(every),
                folder=settings.lock_dir,
                wait_s=settings.cards_wait_s,
                sleep=_waiting_for_cards(settings, ending),
            ) as cards,
            connected(
                settings.url,
                token=settings.token.get_secret_value() if settings.token else None,
                timeout_s=ANSWER_S,
            ) as client,
        ):
            return _run(settings, client, cards, ending)
    except StoppedError:
        return 0
    except CANNOT_START as error:
        log.critical("the runner cannot start", error=str(error))
        return 1


def _run(settings: Settings, client: Client, cards: tuple[Card, ...], ending: Stop) -> int:
    """Listen for nudges, and run the loop in a thread that outlives every child it starts.

    Returns the exit code: 1 when the loop ended by an error of its own.
    """
    nudged, deaf = Event(), Event()
    claim = _claim(settings, cards)
    loop = Loop(
        claim=claim,
        service=client,
        steps=HostSteps(
            host=settings.host_name,
            cache=settings.cache_dir,
            cards=cards,
            variables=dict(os.environ),
            fetch=client.artefact,
            registry=settings.registry,
            limits=settings.limits,
        ),
        courier=Courier(Spool(settings.spool_dir / settings.name), client),
        nudged=nudged,
        ending=ending,
        poll_s=settings.poll_s,
        renew_s=settings.renew_s,
        deliver_s=settings.deliver_s,
        may_begin=Beginning(settings, partial(client.register_runner, claim)).may_begin,
        room=lambda alone, wait: held_host(settings.lock_dir, alone=alone, wait=wait),
    )
    if broker_url := settings.broker_url.get_secret_value():
        listener = create_worker(
            broker_url, pool=settings.pool, host=settings.host_name, nudged=nudged
        )
        listen(listener, ending=deaf)
    log.info("runner ready", runner=settings.name, cards=len(cards), url=settings.url)
    thread = Thread(target=_until_the_end, args=(loop, ending), name="loop")
    thread.start()
    # Waited for in pieces, so that signals are heard.
    while thread.is_alive():
        thread.join(0.5)
    deaf.set()
    log.info("runner ended", runner=settings.name, reason=ending.reason)
    return 1 if ending.reason == LOOP_FAILED else 0


class Beginning:
    """Whether a job may begin: within the window, and with room on the disks for what it leaves.

    A host without it would take one job after another and fail at each. say_here: tells the
    service that the runner lives: while its window is closed it asks for nothing.
    """

    def __init__(self, settings: Settings, say_here: Callable[[], object] = lambda: None) -> None:
        self._window = settings.window
        self._say_here = say_here
        self._folders = (settings.cache_dir, settings.spool_dir)
        self._full: Sequence[str] = ()

    def may_begin(self, now: datetime) -> bool:
        """Return whether a job may begin now; a disk that has become full is logged once.

        Raises ServiceAwayError and RefusedError.
        """
        if self._window is not None and not self._window.is_open(now):
            self._say_here()
            return False
        full = [str(folder) for folder in self._folders if _free_bytes(folder) < LEAST_FREE_BYTES]
        if full and full != self._full:
            log.error("no job is taken: a disk is full", folders=full, needed=LEAST_FREE_BYTES)
        self._full = full
        return not full


def _free_bytes(folder: Path) -> int:
    """Return what is free on the disk that a folder lies on, or will lie on."""
    there = next(each for each in (folder, *folder.parents) if each.exists())
    return shutil.disk_usage(there).free


def _until_the_end(loop: Loop, ending: Stop) -> None:
    try:
        loop.run()
    except Exception:
        log.exception("the loop failed")
        ending.give(LOOP_FAILED)


def _waiting_for_cards(settings: Settings, ending: Stop) -> Callable[[float], None]:
    """Return a sleep that says once why, and after which a process that is to end goes no further.

    Whoever started this runner looks for the setting's name in its log.
    """
    reasons = iter(["another runner of this host holds the cards (KUNLINE_CARDS_WAIT_S)"])

    def sleep(seconds: float) -> None:
        if reason := next(reasons, None):
            log.warning(reason, waited_s=settings.cards_wait_s, folder=str(settings.lock_dir))
        time.sleep(seconds)
        ending.check()

    return sleep


def _claim(settings: Settings, cards: Sequence[Card]) -> Claim:
    return Claim(
        runner=settings.name,
        incarnation=uuid4(),
        host=settings.host_name,
        pool=settings.pool,
        chips=(settings.chip,),
        cards=len(cards),
        version=version("kunline"),
        window=str(settings.window) if settings.window else None,
        # By what is the same in every container of the host, where the card tells it.
        held=tuple(f"{settings.chip}-{card.uuid or card.number}" for card in cards),
    )


def _log_to_stderr(settings: Settings) -> None:
    last = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if settings.log_format == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            last,
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)


if __name__ == "__main__":
    # Leaves without waiting for the listener's thread, which may hang in a broker's connection.
    code = main()
    sys.stderr.flush()
    os._exit(code)
