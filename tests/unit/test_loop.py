"""The runner's loop: claims, renews, stops what is not its own, and never dies of a job."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from uuid import UUID, uuid4

from pydantic import ValidationError

from runners.benchmarks.repeat import Repeat, RepeatStoppedError
from runners.delivery import Courier, Spool
from runners.loop import IDLE_S, Loop
from runners.preflight.layers import Check
from runners.run_job import Prepared, Stop, Tell
from service.client import LeaseLostError, ServiceAwayError
from service.domain.condition import Condition
from service.formats.orders import Claim, JobOrder, Renewal, Renewed
from service.formats.problems import Problem
from service.formats.reports import LaunchReport, RunReport, Stored
from service.formats.sessions import JobRead
from tests.runner_orders import condition, job
from tests.unit.test_run_job import FakeLaunched, FakeSteps

CLAIM = Claim(
    runner="r",
    incarnation=uuid4(),
    host="h",
    pool="local",
    chips=("cpu",),
    cards=1,
    version="0.1.0",
)
LOST = LeaseLostError(Problem(type="StaleTokenError", title="claimed again", status=409))


class FakeService:
    """Hands jobs out once each, and keeps what it is told."""

    def __init__(self, *orders: JobOrder) -> None:
        self.orders = list(orders)
        self.errors: list[Exception] = []
        self.claims = 0
        self.renewals: list[Renewal] = []
        self.answer: Renewed | Exception = Renewed(cancelled=False, lease_s=45)
        self.finished: list[tuple[UUID, int]] = []
        self.reports: list[RunReport | LaunchReport] = []
        self.handed_back = False

    def claim(self, claim: Claim) -> JobOrder | None:
        self.claims += 1
        if self.errors:
            raise self.errors.pop(0)
        return self.orders.pop(0) if self.orders else None

    def renew(self, job_id: UUID, renewal: Renewal) -> Renewed:
        self.renewals.append(renewal)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def finish(self, job_id: UUID, fencing_token: int, *, handed_back: bool) -> JobRead:
        self.finished.append((job_id, fencing_token))
        self.handed_back = handed_back
        if isinstance(self.answer, Exception):
            raise self.answer
        return JobRead(
            id=job_id,
            ordinal=0,
            state="reported",
            stack_key="a" * 64,
            stack_name="s",
            attempt=1,
            cells=1,
            cells_reported=1,
            repeats=2,
            runner="r",
            host="h",
            progress=None,
            broken=None,
        )

    def report_run(self, report: RunReport) -> Stored:
        self.reports.append(report)
        return Stored(run_id=report.run_id, stored=True)

    def report_launch(self, report: LaunchReport) -> None:
        self.reports.append(report)


class SlowSteps(FakeSteps):
    """Each repeat lasts until it is stopped. begun: called when one begins."""

    def __init__(self, begun: Callable[[], None] = lambda: None) -> None:
        super().__init__()
        self.begun = begun
        self.before_repeat = lambda _: self.begun()

    @contextmanager
    def launched(
        self, order: JobOrder, prepared: Prepared, tell: Tell, stop: Stop
    ) -> Iterator[FakeLaunched]:
        with super().launched(order, prepared, tell, stop):
            yield SlowLaunched(self)


class SlowLaunched(FakeLaunched):
    def repeat(
        self, asked: Condition, *, name: str, seed: int, stopped: Callable[[], bool]
    ) -> Repeat:
        self.steps.before_repeat(1)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            if stopped():
                raise RepeatStoppedError(name)
            time.sleep(0.01)
        raise AssertionError("nobody stopped the repeat")


class FailingSteps(FakeSteps):
    def checks(self, order: JobOrder, prepared: Prepared) -> Sequence[Check]:
        raise ZeroDivisionError("a mistake of ours")


def loop(folder: Path, service: FakeService, steps: FakeSteps | None = None) -> Loop:
    return Loop(
        claim=CLAIM,
        service=service,
        steps=steps or FakeSteps(),
        courier=Courier(Spool(folder), service, sleep=lambda _: None),
        nudged=Event(),
        ending=Stop(),
        poll_s=0.02,
        renew_s=0.05,
        deliver_s=1.0,
        now=lambda: datetime(2026, 11, 29, tzinfo=UTC),
    )


def test_a_job_is_claimed_done_reported_and_let_go(tmp_path: Path) -> None:
    service = FakeService(job())

    assert loop(tmp_path, service).once()

    kinds = [type(report).__name__ for report in service.reports]
    assert kinds == ["LaunchReport", "RunReport", "LaunchReport"]
    assert service.finished == [(UUID(int=1), 1)]
    assert service.renewals


def test_nothing_to_do_is_no_error(tmp_path: Path) -> None:
    assert not loop(tmp_path, FakeService()).once()


def test_reports_of_an_earlier_life_go_before_the_first_claim(tmp_path: Path) -> None:
    service, report = FakeService(), one_report(tmp_path)
    Spool(tmp_path / "spool").put(report)

    loop(tmp_path / "spool", service).once()

    assert service.reports == [report]


def one_report(folder: Path) -> RunReport | LaunchReport:
    service = FakeService(job())
    loop(folder / "other", service).once()
    return service.reports[1]


def test_a_lease_that_is_lost_stops_the_launch(tmp_path: Path) -> None:
    service = FakeService(job())
    steps = SlowSteps(lambda: setattr(service, "answer", LOST))

    loop(tmp_path, service, steps).once()

    assert steps.events[-1] == "down"
    assert not any(isinstance(report, RunReport) for report in service.reports)


def test_a_cancelled_job_stops_the_launch_and_is_let_go(tmp_path: Path) -> None:
    service = FakeService(job())
    cancelled = Renewed(cancelled=True, lease_s=45)
    steps = SlowSteps(lambda: setattr(service, "answer", cancelled))

    loop(tmp_path, service, steps).once()

    assert steps.events[-1] == "down"
    assert service.finished == [(UUID(int=1), 1)]


def test_the_end_of_the_process_stops_the_launch_and_hands_the_job_back(tmp_path: Path) -> None:
    service, steps = FakeService(job([condition(), condition(input_tokens=512)])), SlowSteps()
    running = loop(tmp_path, service, steps)
    thread = threading.Thread(target=running.run)
    thread.start()
    until(lambda: "up" in steps.events)

    running.ending.give("SIGTERM")
    thread.join(10)

    assert not thread.is_alive()
    assert steps.events[-2:] == ["down", "idle for 0 s"]
    assert service.finished == [(UUID(int=1), 1)]
    assert service.handed_back


def test_a_service_that_is_away_while_a_job_runs_stops_nothing(tmp_path: Path) -> None:
    service = FakeService(job())
    service.answer = ServiceAwayError("stopped")

    assert loop(tmp_path, service).once()

    assert any(isinstance(report, RunReport) for report in service.reports)


def test_a_mistake_in_a_job_hands_it_back_and_the_loop_goes_on(tmp_path: Path) -> None:
    service = FakeService(job())

    assert loop(tmp_path, service, FailingSteps()).once()

    assert service.finished == [(UUID(int=1), 1)]
    assert not service.handed_back


def test_a_service_that_is_away_is_asked_again(tmp_path: Path) -> None:
    service = FakeService(job())
    service.errors = [ServiceAwayError("stopped"), ServiceAwayError("stopped")]
    running = loop(tmp_path, service, steps := FakeSteps())
    thread = threading.Thread(target=running.run)
    thread.start()
    until(lambda: bool(service.finished))
    running.ending.give("over")
    thread.join(10)

    assert service.claims >= 3
    # Whoever waits lets go of what no launch took for a while.
    assert steps.events[0] == f"idle for {IDLE_S:.0f} s"


def test_an_answer_that_cannot_be_read_ends_neither_the_lease_nor_the_loop(tmp_path: Path) -> None:
    service = FakeService(job())
    service.answer = unreadable()

    assert loop(tmp_path, service).once()
    assert any(isinstance(report, RunReport) for report in service.reports)

    service.errors = [unreadable()]
    running = loop(tmp_path, service)
    thread = threading.Thread(target=running.run)
    thread.start()
    until(lambda: service.claims == 2)
    time.sleep(0.1)

    assert thread.is_alive()
    running.ending.give("over")
    thread.join(10)


def unreadable() -> ValidationError:
    try:
        Renewed.model_validate_json(b'{"a newer field": 1}')
    except ValidationError as error:
        return error
    raise AssertionError("it was read")


def test_a_nudge_ends_the_wait(tmp_path: Path) -> None:
    service = FakeService()
    running = replace(loop(tmp_path, service), poll_s=60.0)
    thread = threading.Thread(target=running.run)
    thread.start()
    until(lambda: service.claims == 1)

    service.orders.append(job())
    running.nudged.set()
    until(lambda: bool(service.finished))
    running.ending.give("over")
    thread.join(10)

    assert not thread.is_alive()


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.01)
