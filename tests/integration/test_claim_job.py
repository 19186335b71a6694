"""A claim: the oldest job that fits, a session's jobs in order, nothing for who may not work."""

from datetime import timedelta
from uuid import uuid4

import pytest
from sqlalchemy import Engine

from service.formats.orders import Claim
from service.store.database import writing
from service.usecases.claim_job import ClocksApartError
from service.usecases.know_runner import register_runner, set_runner_state
from tests.integration import builders, path
from tests.integration.builders import NEW, NOW, OLD
from tests.integration.path import LEASING


def test_an_order_holds_all_that_a_runner_needs(engine: Engine) -> None:
    path.submit(engine, builders.session_order())

    order = path.claimed(engine)

    assert order.stack == builders.stack_order(OLD)
    assert order.launch.cells[0].seeds == builders.SEEDS
    assert {keyed.key for keyed in order.conditions} == {
        cell.condition_key for cell in order.launch.cells
    }
    assert (order.attempt, order.fencing_token, order.lease_s) == (1, 1, 45.0)


def test_nothing_to_do_is_no_order(engine: Engine) -> None:
    assert path.claim(engine) is None


@pytest.mark.parametrize(
    "wanted",
    [
        pytest.param(builders.claim(pool="p800"), id="another pool"),
        pytest.param(builders.claim(chips=("kunlun",)), id="another chip"),
        pytest.param(builders.claim(cards=1), id="too few cards"),
    ],
)
def test_a_job_that_does_not_fit_is_left(engine: Engine, wanted: Claim) -> None:
    path.submit(engine, builders.session_order(cards=2))

    assert path.claim(engine, wanted) is None
    assert path.claim(engine, builders.claim("fits")) is not None


def test_a_sessions_jobs_are_done_one_at_a_time_and_in_order(engine: Engine) -> None:
    path.submit(engine, builders.session_order())
    first = path.claimed(engine)

    meanwhile = path.claim(engine, builders.claim("r2"))
    path.do_job(engine, first)
    second = path.claimed(engine, builders.claim("r2"))

    assert meanwhile is None
    assert (first.ordinal, second.ordinal) == (0, 1)
    assert second.stack.key == NEW.key


def test_a_session_stays_on_the_host_that_began_it(engine: Engine) -> None:
    path.submit(engine, builders.session_order())
    path.do_job(engine, path.claimed(engine))

    elsewhere = path.claim(engine, builders.claim("r2", host="h2"))
    here = path.claim(engine, builders.claim("r3", host="h1"))

    assert elsewhere is None
    assert here is not None


def test_the_oldest_session_comes_first(engine: Engine) -> None:
    later = path.submit(engine, builders.session_order(), "two", now=NOW + timedelta(seconds=1))
    earlier = path.submit(engine, builders.session_order(), "one", now=NOW)

    first = path.claimed(engine)
    second = path.claimed(engine, builders.claim("r2", host="h2"))

    assert (first.session_id, second.session_id) == (earlier, later)


@pytest.mark.parametrize("state", ["paused", "draining"])
def test_a_runner_that_may_not_work_gets_nothing(engine: Engine, state: str) -> None:
    path.submit(engine, builders.session_order())
    with writing(engine) as session:
        register_runner(session, builders.claim(), leasing=LEASING, now=NOW)
        set_runner_state(session, "r1", state)  # type: ignore[arg-type]  # parametrised as text

    refused = path.claim(engine)
    with writing(engine) as session:
        set_runner_state(session, "r1", "active")

    assert refused is None
    assert path.claim(engine) is not None


def test_a_new_life_of_a_runner_loses_what_the_old_one_held(engine: Engine) -> None:
    session_id = path.submit(engine, builders.session_order())
    path.claimed(engine)

    with writing(engine) as session:
        register_runner(session, builders.claim(incarnation=uuid4()), leasing=LEASING, now=NOW)

    assert path.read(engine, session_id).jobs[0].state == "queued"


def test_the_same_life_of_a_runner_keeps_what_it_holds(engine: Engine) -> None:
    session_id = path.submit(engine, builders.session_order())
    path.claimed(engine)

    with writing(engine) as session:
        register_runner(session, builders.claim(), leasing=LEASING, now=NOW)

    assert path.read(engine, session_id).jobs[0].state == "claimed"


def test_a_job_claimed_again_holds_only_its_missing_cells(engine: Engine) -> None:
    path.submit(engine, builders.session_order())
    first = path.claimed(engine)
    path.report(engine, builders.run_report(first, cell=0))

    again = path.claimed(engine)

    assert again.job_id == first.job_id
    assert again.launch.cells == first.launch.cells[1:]
    assert len(again.conditions) == 1
    assert (again.attempt, again.fencing_token) == (2, 2)


def test_a_requeued_job_whose_cells_have_all_arrived_is_ended_not_handed_out(
    engine: Engine,
) -> None:
    session_id = path.submit(engine, builders.session_order())
    first = path.claimed(engine)
    path.report(engine, builders.run_report(first, cell=0))
    path.report(engine, builders.run_report(first, cell=1))

    following = path.claimed(engine)

    assert following.ordinal == 1
    assert path.read(engine, session_id).jobs[0].state == "reported"


def test_a_job_that_is_lost_too_often_is_given_up_and_the_next_one_comes(engine: Engine) -> None:
    session_id = path.submit(engine, builders.session_order())
    tries = [path.claimed(engine) for _ in range(LEASING.attempts_max)]

    following = path.claimed(engine)

    assert [order.ordinal for order in tries] == [0, 0, 0]
    assert following.ordinal == 1
    assert path.read(engine, session_id).jobs[0].state == "given up"


@pytest.mark.parametrize(("minutes", "words"), [(7, "420 s ahead of"), (-90, "5400 s behind")])
def test_a_runner_whose_clock_is_wrong_gets_no_job_and_is_told_by_how_much(
    minutes: int, words: str, engine: Engine
) -> None:
    path.submit(engine, builders.session_order())
    wrong = builders.claim().model_copy(update={"asked_at": NOW + timedelta(minutes=minutes)})
    right = builders.claim().model_copy(update={"asked_at": NOW - timedelta(seconds=40)})

    with pytest.raises(ClocksApartError, match=rf"the clock of h1 is {words} the service's"):
        path.claim(engine, wrong)
    assert path.claim(engine, right) is not None
