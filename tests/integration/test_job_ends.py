"""How a job ends: done, broken, handed back, gone quiet, cancelled."""

from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import Engine

from service.domain.job import JobState, StaleTokenError
from service.domain.layer import Layer
from service.formats.orders import JobOrder, Progress, Renewal, Renewed
from service.formats.reports import Broken
from service.store.database import reading, writing
from service.store.runs import RunFilter
from service.usecases.cancel_session import cancel_session
from service.usecases.read_runs import list_runs
from service.usecases.renew_lease import LeaseLostError, renew_lease
from service.usecases.submit_session import KeyReusedError, RepeatedCellError
from service.usecases.sweep import Swept, sweep
from tests.integration import builders, path
from tests.integration.builders import NEW, NOW
from tests.integration.path import LEASING

LATER = NOW + timedelta(seconds=46)


def renew(engine: Engine, order: JobOrder, *, progress: Progress | None = None) -> Renewed:
    renewal = Renewal(fencing_token=order.fencing_token, progress=progress)
    with writing(engine) as session:
        return renew_lease(session, order.job_id, renewal, leasing=LEASING, now=NOW)


def sweep_at(engine: Engine, seconds: float) -> Swept:
    with writing(engine) as session:
        return sweep(
            session,
            leasing=LEASING,
            resend_after=timedelta(seconds=60),
            now=NOW + timedelta(seconds=seconds),
        )


def cancel(engine: Engine, session_id: UUID) -> None:
    with writing(engine) as session:
        cancel_session(session, session_id, now=NOW)


def test_a_session_whose_jobs_are_all_reported_is_finished(engine: Engine) -> None:
    session_id = path.do_session(engine, builders.session_order())

    read = path.read(engine, session_id)

    assert read.state == "finished"
    assert read.host == "h1"
    assert [job.state for job in read.jobs] == ["reported"] * 4
    assert [job.cells_reported for job in read.jobs] == [2] * 4


def test_finishing_twice_changes_nothing(engine: Engine) -> None:
    path.submit(engine, builders.session_order())
    order = path.claimed(engine)
    path.do_job(engine, order)

    assert path.finish(engine, order) is JobState.REPORTED


def test_a_job_with_cells_missing_goes_back_to_its_queue(engine: Engine) -> None:
    path.submit(engine, builders.session_order())
    order = path.claimed(engine)
    path.report(engine, builders.run_report(order, cell=0))

    assert path.finish(engine, order) is JobState.QUEUED


def test_a_job_that_is_handed_back_again_and_again_is_never_given_up(engine: Engine) -> None:
    path.submit(engine, builders.session_order())

    states = [path.finish(engine, path.claimed(engine), handed_back=True) for _ in range(5)]

    assert states == [JobState.QUEUED] * 5
    order = path.claimed(engine)
    assert (order.attempt, order.fencing_token) == (1, 6)


def test_a_broken_launch_makes_its_cells_broken_runs(engine: Engine) -> None:
    session_id = path.submit(engine, builders.session_order())
    order = path.claimed(engine)
    broken = Broken(layer=Layer.COLLECTIVES, finding="all-reduce gave 3, not 4")
    path.report(engine, builders.run_report(order, cell=0))
    path.tell_launch(engine, builders.launch_report(order, broken=broken))

    state = path.finish(engine, order)

    assert state is JobState.REPORTED
    assert path.read(engine, session_id).jobs[0].broken == broken
    with reading(engine) as session:
        page = list_runs(session, RunFilter(), limit=10, cursor=None)
    assert sorted(run.state for run in page.runs) == ["broken", "measured"]


def test_a_sign_of_life_lengthens_the_lease_and_keeps_progress(engine: Engine) -> None:
    session_id = path.submit(engine, builders.session_order())
    order = path.claimed(engine, now=NOW - timedelta(seconds=40))
    progress = Progress(phase="measure", text="cell 1 of 2", fraction=0.5)

    answer = renew(engine, order, progress=progress)
    swept = sweep_at(engine, 30)

    assert not answer.cancelled
    assert swept.requeued == ()
    assert path.read(engine, session_id).jobs[0].progress == progress


def test_a_sign_of_life_from_an_earlier_holder_is_refused(engine: Engine) -> None:
    path.submit(engine, builders.session_order())
    order = path.claimed(engine)
    path.claimed(engine)

    with pytest.raises(StaleTokenError):
        renew(engine, order)


def test_a_lease_that_was_swept_cannot_be_renewed(engine: Engine) -> None:
    path.submit(engine, builders.session_order())
    order = path.claimed(engine)
    sweep_at(engine, 46)

    with pytest.raises(LeaseLostError, match="queued now"):
        renew(engine, order)


def test_a_job_that_went_quiet_is_requeued_and_announced_to_its_host(engine: Engine) -> None:
    path.submit(engine, builders.session_order())
    order = path.claimed(engine)

    early, late = sweep_at(engine, 44), sweep_at(engine, 46)

    assert early.requeued == ()
    assert late.requeued == (order.job_id,)
    assert [(nudge.queue, nudge.job_id) for nudge in late.nudges] == [("host.h1", order.job_id)]


def test_a_job_that_goes_quiet_too_often_is_given_up(engine: Engine) -> None:
    session_id = path.submit(engine, builders.session_order(arms=(NEW,), baseline=None))
    for _ in range(2):
        path.claimed(engine)
        sweep_at(engine, 46)
    path.claimed(engine)

    swept = sweep_at(engine, 46)

    assert len(swept.given_up) == 1
    assert path.read(engine, session_id).state == "finished"


def test_a_job_that_nobody_came_for_is_announced_again(engine: Engine) -> None:
    path.submit(engine, builders.session_order())

    early, late, again = sweep_at(engine, 59), sweep_at(engine, 61), sweep_at(engine, 62)

    assert early.nudges == ()
    assert [nudge.queue for nudge in late.nudges] == ["pool.cpu"]
    assert again.nudges == ()


def test_cancelling_ends_what_is_queued_at_once_and_what_runs_at_its_sign_of_life(
    engine: Engine,
) -> None:
    session_id = path.submit(engine, builders.session_order())
    order = path.claimed(engine)

    cancel(engine, session_id)
    before = [job.state for job in path.read(engine, session_id).jobs]
    answer = renew(engine, order)
    after = path.read(engine, session_id)

    assert before == ["claimed", "cancelled", "cancelled", "cancelled"]
    assert answer.cancelled
    assert [job.state for job in after.jobs] == ["cancelled"] * 4
    assert after.state == "cancelled"


def test_a_cancelled_sessions_lost_job_is_not_requeued(engine: Engine) -> None:
    session_id = path.submit(engine, builders.session_order())
    path.claimed(engine)
    cancel(engine, session_id)

    sweep_at(engine, 46)

    assert path.read(engine, session_id).jobs[0].state == "cancelled"
    assert path.claim(engine) is None


def test_cancelling_what_is_over_changes_nothing(engine: Engine) -> None:
    session_id = path.do_session(engine, builders.session_order())

    cancel(engine, session_id)

    assert path.read(engine, session_id).state == "finished"


def test_submitting_twice_with_one_key_gives_one_session(engine: Engine) -> None:
    order = builders.session_order()

    assert path.submit(engine, order) == path.submit(engine, order, now=LATER)


def test_a_key_that_came_with_another_order_is_refused(engine: Engine) -> None:
    path.submit(engine, builders.session_order())

    with pytest.raises(KeyReusedError):
        path.submit(engine, builders.session_order(cards=2))


def test_a_launch_that_asks_for_a_cell_twice_is_refused(engine: Engine) -> None:
    order = builders.session_order()
    launch = order.launches[0]
    doubled = launch.model_copy(update={"cells": (*launch.cells, launch.cells[0])})

    with pytest.raises(RepeatedCellError, match=r"launches\.0"):
        path.submit(engine, order.model_copy(update={"launches": (doubled,)}))
