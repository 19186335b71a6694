"""Marks: another text once anything came that an answer about stored runs may rest on."""

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import Engine

from service.domain.cell import Cell
from service.formats.orders import JobOrder
from service.formats.withdrawals import RestorationOrder, WithdrawalOrder
from service.store import marks
from service.store.database import reading, writing
from service.usecases.withdraw_run import restore_run, withdraw_run
from tests.integration import builders, path
from tests.integration.builders import NEW, NOW, OLD, PROTOCOL
from tests.integration.pages import pin

CELL = Cell(builders.condition(concurrency=1).key, PROTOCOL.key)


@pytest.fixture
def job(engine: Engine) -> JobOrder:
    """Measure the first of a job's two cells, and leave the job with its runner."""
    path.submit(engine, builders.session_order(arms=(OLD,), baseline=None))
    claimed = path.claimed(engine)
    path.tell_launch(engine, builders.launch_report(claimed))
    path.report(engine, builders.run_report(claimed))
    return claimed


def seen(engine: Engine) -> tuple[str, str, str]:
    """Return the mark of everything, of the stack and of the cell."""
    with reading(engine) as session:
        return (
            marks.of_all(session),
            marks.of_stacks(session, [OLD.key]),
            marks.of_cell(session, CELL),
        )


def changed(engine: Engine, act: Callable[[], object]) -> tuple[bool, bool, bool]:
    """Do something, and return which of the marks are other ones since."""
    before = seen(engine)
    act()
    pairs = zip(before, seen(engine), strict=True)
    return tuple(was != now for was, now in pairs)  # type: ignore[return-value]  # three are asked for


def of_run(engine: Engine, order: JobOrder) -> UUID:
    report = builders.run_report(order, cell=1)
    path.report(engine, report)
    return report.run_id


def test_asking_again_changes_no_mark(engine: Engine, job: JobOrder) -> None:
    assert changed(engine, lambda: job) == (False, False, False)


def test_a_run_changes_the_mark_of_its_stack_and_cell(engine: Engine, job: JobOrder) -> None:
    assert changed(engine, lambda: of_run(engine, job)) == (False, True, False)


@pytest.mark.usefixtures("job")
def test_another_stacks_runs_leave_the_mark_alone(engine: Engine) -> None:
    path.submit(engine, builders.session_order(arms=(NEW,), baseline=None), "two")
    other = path.claimed(engine, builders.claim("r2", host="h2"))

    report = builders.run_report(other, launch_id=other.job_id)

    assert changed(engine, lambda: path.report(engine, report)) == (False, False, True)


def test_the_end_of_a_launch_changes_the_marks(engine: Engine, job: JobOrder) -> None:
    stopped = NOW + timedelta(minutes=5)
    ended = builders.launch_report(job).model_copy(update={"stopped_at": stopped})

    assert changed(engine, lambda: path.tell_launch(engine, ended)) == (False, True, True)


def test_a_session_that_ends_and_a_pin_change_the_mark_of_everything(
    engine: Engine, job: JobOrder
) -> None:
    of_run(engine, job)

    assert changed(engine, lambda: path.finish(engine, job))[0]
    assert changed(engine, lambda: pin(engine, OLD))[0]


def test_a_withdrawal_and_its_end_change_all_marks(engine: Engine, job: JobOrder) -> None:
    run_id = of_run(engine, job)

    def withdraw() -> None:
        with writing(engine) as session:
            order = WithdrawalOrder(reason="wrong card")
            withdraw_run(session, run_id, order, who="ann", now=NOW)

    def restore() -> None:
        with writing(engine) as session:
            restore_run(session, run_id, RestorationOrder(reason="right"), who="bob", now=NOW)

    assert changed(engine, withdraw) == (True, True, True)
    assert changed(engine, restore) == (True, True, True)
