"""Reports on their way: on disk first, sent until they arrive, set aside when refused."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest

from runners.benchmarks.run_facts import wire
from runners.delivery import Courier, Spool
from runners.reports import failed_run
from service.client import RefusedError, ServiceAwayError
from service.domain.validity import Gate, failure
from service.formats.problems import Problem
from service.formats.reports import LaunchReport, RunReport, Stored
from tests.runner_orders import job

NOW = datetime(2026, 11, 29, tzinfo=UTC)


def run(token: int = 1) -> RunReport:
    order = job(token=token)
    finding = wire(failure(Gate.TOOL_FAILED, observed="exit code 1", required="exit code 0"))
    return failed_run(order, order.launch.cells[0], at=NOW, findings=[finding])


def launch() -> LaunchReport:
    return LaunchReport(
        launch_id=UUID(int=3), job_id=UUID(int=1), fencing_token=1, host="h", started_at=NOW
    )


def refused(status: int, kind: str = "StaleTokenError") -> RefusedError:
    return RefusedError(Problem(type=kind, title="the job went on", status=status))


class FakeService:
    """Takes reports, or fails as told: one error for each of the next calls."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.taken: list[RunReport | LaunchReport] = []

    def report_run(self, report: RunReport) -> Stored:
        self._take(report)
        return Stored(run_id=report.run_id, stored=True)

    def report_launch(self, report: LaunchReport) -> None:
        self._take(report)

    def _take(self, report: RunReport | LaunchReport) -> None:
        if self.errors:
            raise self.errors.pop(0)
        self.taken.append(report)


def courier(
    folder: Path, service: FakeService, sleep: Callable[[float], None] = lambda _: None
) -> Courier:
    return Courier(Spool(folder), service, sleep=sleep)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*") if path.is_file())


def test_a_report_that_arrives_leaves_the_disk(tmp_path: Path) -> None:
    service = FakeService()

    courier(tmp_path, service).deliver(run())

    assert service.taken == [run()]
    assert names(tmp_path) == []


def test_a_service_that_is_away_gets_everything_later_and_in_order(tmp_path: Path) -> None:
    away = FakeService(ServiceAwayError("stopped"), ServiceAwayError("stopped"))
    bringing = courier(tmp_path, away)
    bringing.deliver(launch())
    bringing.deliver(run())
    assert len(names(tmp_path)) == 2

    assert bringing.drain(limit_s=10)

    assert away.taken == [launch(), run()]
    assert names(tmp_path) == []


def test_what_an_earlier_life_left_is_sent_by_the_next(tmp_path: Path) -> None:
    Spool(tmp_path).put(run())
    (tmp_path / "half.tmp").write_text("{", encoding="utf-8")
    service = FakeService()

    courier(tmp_path, service).send_waiting()

    assert service.taken == [run()]
    assert names(tmp_path) == []


def test_a_refused_report_is_set_aside_with_the_reason_and_the_rest_goes_on(
    tmp_path: Path,
) -> None:
    spool, service = Spool(tmp_path), FakeService(refused(409))
    spool.put(run())
    spool.put(launch())

    Courier(spool, service).send_waiting()

    reason, kept = sorted(spool.refused.iterdir(), key=lambda path: path.suffix, reverse=True)
    assert service.taken == [launch()]
    assert reason.read_text(encoding="utf-8") == "the job went on\n"
    assert RunReport.model_validate_json(kept.read_bytes()) == run()


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(refused(401, "UnknownTokenError"), id="a token that is not known"),
        pytest.param(refused(400, "ReleasesApartError"), id="releases too far apart"),
    ],
)
def test_a_refusal_of_the_runner_itself_keeps_the_report(
    tmp_path: Path, error: RefusedError
) -> None:
    bringing = courier(tmp_path, FakeService(error))

    bringing.deliver(run())

    assert len(names(tmp_path)) == 1


def test_a_corrupt_file_is_set_aside(tmp_path: Path) -> None:
    spool, service = Spool(tmp_path), FakeService()
    spool.put(run())
    next(tmp_path.glob("*.json")).write_text('{"version": 1, "run_id"', encoding="utf-8")
    (tmp_path / "notes.json").write_text("{}", encoding="utf-8")

    Courier(spool, service).send_waiting()

    assert service.taken == []
    assert len(names(spool.corrupt)) == 2
    assert names(tmp_path) == []


def test_retries_are_bounded_and_grow_to_a_cap(tmp_path: Path) -> None:
    pauses: list[float] = []
    service = FakeService(*[ServiceAwayError("stopped") for _ in range(100)])
    bringing = courier(tmp_path, service, pauses.append)
    bringing.deliver(run())

    assert not bringing.drain(limit_s=60)

    assert pauses[:4] == [0.5, 1.0, 2.0, 4.0]
    assert max(pauses) == 15.0
    assert sum(pauses) < 60 + 15
    assert len(names(tmp_path)) == 1


def test_a_runner_that_ends_tries_once_more_and_leaves_the_rest_on_disk(tmp_path: Path) -> None:
    pauses: list[float] = []
    bringing = courier(tmp_path, FakeService(*[ServiceAwayError("stopped")] * 9), pauses.append)
    bringing.deliver(run())

    assert not bringing.drain(limit_s=60, given_up=lambda: True)
    assert pauses == []
