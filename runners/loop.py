"""The runner's one loop: ask for a job, run it, say that it is done, ask again."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from threading import Event, Lock, Thread
from typing import Protocol
from uuid import UUID

import structlog
from pydantic import ValidationError

from runners.delivery import Courier
from runners.run_job import Steps, Stop, StoppedError, run_job
from service.client import LeaseLostError, RefusedError, ServiceAwayError
from service.domain.condition import Occupancy
from service.formats.orders import Claim, JobOrder, Progress, Renewal, Renewed
from service.formats.sessions import JobRead

# Progress is passed on this often while it changes, so that a person sees it move.
PROGRESS_EVERY_S = 2.0
AWAY_PAUSE_MAX_S = 30.0
# What stands by for a next launch is let go once none came for so long.
IDLE_S = 60.0
WAIT_S = 1.0
# A refusal, or an answer of another release that this one cannot read.
UNUSABLE = (RefusedError, ValidationError)

log = structlog.get_logger()


class Service(Protocol):
    """What the loop asks of the service: its client."""

    def claim(self, claim: Claim) -> JobOrder | None:
        """Return a job to do now, or None."""
        ...

    def renew(self, job_id: UUID, renewal: Renewal) -> Renewed:
        """Give a sign of life."""
        ...

    def finish(self, job_id: UUID, fencing_token: int, *, handed_back: bool) -> JobRead:
        """Say that a job is done, or handed back unfinished by a person's wish."""
        ...


@dataclass(slots=True)
class Latest:
    """The newest progress of a job, written by the loop and sent by its supervisor."""

    _lock: Lock = field(default_factory=Lock)
    _told: Progress | None = None
    _number: int = 0

    def tell(self, told: Progress) -> None:
        """Keep what is going on now."""
        with self._lock:
            self._told, self._number = told, self._number + 1

    def read(self) -> tuple[Progress | None, int]:
        """Return the newest progress, and how many there were."""
        with self._lock:
            return self._told, self._number


def _anywhere(_alone: bool, _wait: Callable[[], None]) -> AbstractContextManager[None]:
    return nullcontext()


@dataclass(frozen=True, slots=True)
class Loop:
    """One runner: what it is, whom it asks, and how it does a job.

    nudged: set by a message that there may be work. ending: given once the process is to end.
    poll_s: how often work is asked for without a nudge. renew_s: how often the lease is renewed.
    deliver_s: how long reports are tried to be sent before the job is let go. may_begin: whether
    cards may be used at a time; a job that has begun goes on to its end. room: holds the host's
    cards for a job, alone or shared; waits by calling what it is given.
    """

    claim: Claim
    service: Service
    steps: Steps
    courier: Courier
    nudged: Event
    ending: Stop
    poll_s: float
    renew_s: float
    deliver_s: float
    may_begin: Callable[[datetime], bool] = lambda _: True
    room: Callable[[bool, Callable[[], None]], AbstractContextManager[None]] = _anywhere
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def run(self) -> None:
        """Do job after job until the end; nothing that a job or the service does ends it."""
        pause_s = self.poll_s
        while not self.ending.given():
            try:
                worked = self.once()
            except ServiceAwayError as error:
                log.warning("the service is away", error=str(error), again_in_s=pause_s)
                self._rest(pause_s)
                pause_s = min(2 * pause_s, AWAY_PAUSE_MAX_S)
            except UNUSABLE as error:
                log.warning("the service refuses this runner", error=str(error))
                self._rest(AWAY_PAUSE_MAX_S)
            else:
                pause_s = self.poll_s
                if not worked:
                    self._rest(self.poll_s)
        self.steps.let_go(0.0)

    def once(self) -> bool:
        """Send what an earlier job or life left, claim a job and do it; say whether there was one.

        Raises ServiceAwayError and RefusedError, both before any job is begun.
        """
        self.nudged.clear()
        self.courier.send_waiting()
        if not self.may_begin(self.now()):
            return False
        order = self.service.claim(self.claim.model_copy(update={"asked_at": self.now()}))
        if order is None:
            return False
        self._do(order)
        return True

    def _rest(self, seconds: float) -> None:
        """Wait for a nudge, the end, or until the time is up."""
        self.steps.let_go(IDLE_S)
        deadline = time.monotonic() + seconds
        while not self.ending.given() and (left := deadline - time.monotonic()) > 0:
            if self.nudged.wait(min(left, 1.0)):
                return

    def _do(self, order: JobOrder) -> None:
        """Run a job and let it go; a job that ends badly is handed back, and tried boundedly."""
        job = log.bind(job=str(order.job_id), attempt=order.attempt)
        stack = order.stack.stack.name
        job.info("job claimed", stack_name=stack, cells=len(order.launch.cells))
        stop = Stop()
        with self._supervised(order, stop) as latest:
            try:
                with self.room(_is_solo(order), partial(_wait_for_room, latest, stop)):
                    run_job(
                        order,
                        self.steps,
                        deliver=self.courier.deliver,
                        progress=latest.tell,
                        stop=stop,
                        now=self.now,
                    )
            except StoppedError as stopped:
                job.warning("job stopped", reason=str(stopped))
            except Exception:  # noqa: BLE001 — whatever a job ends with, the runner lives on to say so
                job.exception("job failed; it is handed back")
            self.courier.drain(limit_s=self.deliver_s, given_up=self.ending.given)
        self._finish(order)

    def _finish(self, order: JobOrder) -> None:
        """Let a job go. Cells without a report go back to the queue, for any runner."""
        try:
            job = self.service.finish(
                order.job_id, order.fencing_token, handed_back=self.ending.given()
            )
        except (ServiceAwayError, *UNUSABLE) as error:
            # The lease runs out by itself; what is on disk is sent before the next claim.
            log.warning("the job could not be let go", job=str(order.job_id), error=str(error))
        else:
            log.info("job let go", job=str(order.job_id), state=job.state)

    @contextmanager
    def _supervised(self, order: JobOrder, stop: Stop) -> Iterator[Latest]:
        """Renew the lease from a thread of its own until the block ends."""
        latest, over = Latest(), Event()
        thread = Thread(
            target=self._supervise, args=(order, stop, latest, over), name="lease", daemon=True
        )
        thread.start()
        try:
            yield latest
        finally:
            over.set()
            thread.join()

    def _supervise(self, order: JobOrder, stop: Stop, latest: Latest, over: Event) -> None:
        """Pass progress on while it changes, renew in any case, and stop a job that is not ours."""
        sent_at, sent = float("-inf"), -1
        beat_s = min(PROGRESS_EVERY_S, self.renew_s)
        while not over.is_set():
            if self.ending.given():
                stop.give(self.ending.reason)
            told, number = latest.read()
            if number != sent or time.monotonic() - sent_at >= self.renew_s:
                self._renew(order, stop, told)
                sent_at, sent = time.monotonic(), number
            self._wait(over, beat_s)

    def _wait(self, over: Event, seconds: float) -> None:
        """Wait until the job is over or the time is up; the end of the process is seen at once."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and not self.ending.given():
            if over.wait(min(left, 0.2)):
                return
        if self.ending.given():
            over.wait(0.2)

    def _renew(self, order: JobOrder, stop: Stop, told: Progress | None) -> None:
        renewal = Renewal(fencing_token=order.fencing_token, progress=told)
        try:
            renewed = self.service.renew(order.job_id, renewal)
        except LeaseLostError as error:
            stop.give(f"the job is no longer ours: {error}")
        except (ServiceAwayError, *UNUSABLE) as error:
            log.warning("the lease was not renewed", job=str(order.job_id), error=str(error))
        else:
            if renewed.cancelled:
                stop.give("the job was cancelled")


def _is_solo(order: JobOrder) -> bool:
    """Return whether any cell of a job is to have the host's cards alone."""
    conditions = (keyed.condition for keyed in order.conditions)
    return any(condition.cards.occupancy is Occupancy.SOLO for condition in conditions)


def _wait_for_room(latest: Latest, stop: Stop) -> None:
    """Say what is waited for, and wait a while. Raises StoppedError when the job is to stop."""
    text = "waiting for another runner of this host, whose job runs on"
    latest.tell(Progress(phase="build", text=text, fraction=None))
    stop.check()
    time.sleep(WAIT_S)
