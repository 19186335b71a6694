"""The screen on stored history: one event a cause, nothing for nothing, and told anew at will."""

import random
from collections.abc import Collection, Sequence
from functools import partial
from uuid import UUID

import pytest
from sqlalchemy import Engine

from service.domain.screen import Answer
from service.formats.events import EventRead, SeriesScreen
from service.formats.runs import RunRead
from service.formats.withdrawals import RestorationOrder, WithdrawalOrder
from service.store import screens
from service.store.database import reading, writing
from service.store.events import EventFilter
from service.store.runs import RunFilter
from service.store.screens import ScreenFilter, StoredScreen
from service.usecases.look import look_again, look_at_session
from service.usecases.read_events import list_events, read_event
from service.usecases.read_runs import list_runs
from service.usecases.read_screens import list_screens
from service.usecases.withdraw_run import restore_run, withdraw_run
from tests.integration import imported, path
from tests.integration.builders import NOW, OLD
from tests.integration.nights import CELLS, do_night, do_nights, nights_with_a_step, stack_of
from tests.integration.test_concurrency import at_once

STEP = 13
NIGHTS = range(20)
MOVED = {CELLS[0].key, CELLS[1].key}


def step(night: int, cell: int) -> float:
    """Slow the first two cells by 8 % from one night on."""
    return 1.08 if night >= STEP and cell < len(MOVED) else 1.0


def all_slower(night: int, _: int) -> float:
    return 1.08 if night >= STEP else 1.0


def two_hosts_slower(engine: Engine) -> None:
    """Measure nights of two hosts, on both of which all gets slower."""
    for night in NIGHTS:
        do_night(engine, night, host="h1", slower=all_slower, conditions=CELLS[:2])
        do_night(engine, night, host="h2", slower=all_slower, conditions=CELLS[:2])


def events(engine: Engine, host: str | None = None) -> Sequence[EventRead]:
    with reading(engine) as session:
        return list_events(session, EventFilter(host), limit=50, cursor=None).events


def told(engine: Engine) -> Sequence[SeriesScreen]:
    with reading(engine) as session:
        return list_screens(session, ScreenFilter(), limit=500, cursor=None).screens


def stored(engine: Engine) -> Sequence[StoredScreen]:
    with reading(engine) as session:
        return screens.page(session, ScreenFilter(), after=None, limit=500)


def runs_of(engine: Engine, stack_keys: Collection[str]) -> list[RunRead]:
    with reading(engine) as session:
        found = list_runs(session, RunFilter(), limit=500, cursor=None).runs
    return [run for run in found if run.stack_key in stack_keys]


def withdraw(engine: Engine, run_ids: Collection[UUID]) -> None:
    order = WithdrawalOrder(reason="wrong driver")
    for run_id in run_ids:
        with writing(engine) as session:
            withdraw_run(session, run_id, order, who="ann", now=NOW)


def restore(engine: Engine, run_ids: Collection[UUID]) -> None:
    order = RestorationOrder(reason="right driver")
    for run_id in run_ids:
        with writing(engine) as session:
            restore_run(session, run_id, order, who="ann", now=NOW)


@pytest.mark.scene(played=nights_with_a_step)
def test_a_step_is_one_event_with_its_cells_size_and_stack(engine: Engine) -> None:

    (event,) = events(engine)
    answers = {(each.condition_key, each.metric): each.answer for each in told(engine)}
    suspect = {key for (key, _), answer in answers.items() if answer is Answer.SUSPECT}
    assert {each.condition_key for each in event.moved} == MOVED
    assert len(event.moved) == len(MOVED) * 3
    assert event.direction == "worse"
    assert event.change == pytest.approx(0.08, abs=0.02)
    assert event.before_stack_name == f"nightly-{STEP - 1}"
    assert event.stack_name == f"nightly-{STEP}"
    assert event.metric in {"tpot_p50", "ttft_p50", "output_throughput"}
    assert (event.host, event.hosts, event.presumed) == (None, ("h1",), ())
    assert suspect == MOVED
    assert len(answers) == len(CELLS) * 3


@pytest.mark.scene(played=nights_with_a_step)
def test_an_event_names_the_runs_it_came_from(engine: Engine) -> None:

    (event,) = events(engine)
    with reading(engine) as session:
        detail = read_event(session, event.id)

    seen = int(event.seen_stack_name.removeprefix("nightly-"))
    since = {stack_of(night).key for night in range(STEP, seen + 1)}
    expected = {run.id for run in runs_of(engine, since) if run.condition_key in MOVED}
    assert set(detail.run_ids) == expected
    assert detail.event == event


def test_nights_alike_are_no_event_and_tell_what_would_have_been_seen(engine: Engine) -> None:
    nights = range(30)
    do_nights(engine, nights)

    found = told(engine)
    assert events(engine) == ()
    assert {each.answer for each in found} == {Answer.NO_ALARM}
    assert all(each.smallest_effect is not None for each in found)
    assert all(0.005 < (each.smallest_effect or 0) < 0.06 for each in found)
    assert {each.runs for each in found} == {len(nights)}
    assert {each.stack_key for each in found} == {stack_of(nights[-1]).key}


def test_too_few_nights_could_not_have_shown_anything(engine: Engine) -> None:
    do_nights(engine, range(5))

    assert {each.smallest_effect for each in told(engine)} == {None}


def test_what_moves_on_one_host_alone_is_named_after_the_host(engine: Engine) -> None:
    for night in NIGHTS:
        do_night(engine, night, host="h1", slower=all_slower, conditions=CELLS[:2])
        do_night(engine, night, host="h2", conditions=CELLS[:2])

    (event,) = events(engine)
    assert (event.host, event.hosts) == ("h1", ("h1",))


@pytest.mark.scene(played=two_hosts_slower)
def test_what_moves_on_all_hosts_is_one_event_and_no_host(engine: Engine) -> None:
    (event,) = events(engine)
    assert (event.host, event.hosts) == (None, ("h1", "h2"))
    assert {each.host for each in event.moved} == {"h1", "h2"}
    assert events(engine, host="h2") == (event,)
    assert events(engine, host="h3") == ()


@pytest.mark.scene(played=two_hosts_slower)
def test_the_event_of_another_host_stands_alone_when_the_first_is_no_more(engine: Engine) -> None:
    slow = {stack_of(night).key for night in NIGHTS[STEP:]}

    withdraw(engine, [run.id for run in runs_of(engine, slow) if run.host == "h1"])

    (event,) = events(engine)
    assert (event.host, event.hosts) == (None, ("h2",))


def test_one_host_alone_says_nothing_of_the_host(engine: Engine) -> None:
    do_nights(engine, NIGHTS, slower=all_slower, conditions=CELLS[:2])

    (event,) = events(engine)
    assert event.host is None


@pytest.mark.scene(played=nights_with_a_step)
def test_withdrawn_runs_take_their_event_with_them_and_bring_it_back(engine: Engine) -> None:
    before, standing = events(engine), stored(engine)
    slow = [run.id for run in runs_of(engine, {stack_of(night).key for night in NIGHTS[STEP:]})]

    withdraw(engine, slow)
    without = events(engine)
    quiet = told(engine)
    restore(engine, slow)

    assert without == ()
    assert {each.answer for each in quiet} == {Answer.NO_ALARM}
    assert {each.runs for each in quiet} == {STEP}
    assert [_without_ids(each) for each in events(engine)] == list(map(_without_ids, before))
    assert_alike(stored(engine), standing)


@pytest.mark.scene(played=nights_with_a_step)
def test_telling_it_anew_gives_what_was_told_night_by_night(engine: Engine) -> None:
    before, standing = events(engine), stored(engine)

    with writing(engine) as session:
        look_again(session, [runs_of(engine, {stack_of(3).key})[0].id], now=NOW)

    assert [each.id for each in events(engine)] == [each.id for each in before]
    assert [_without_ids(each) for each in events(engine)] == list(map(_without_ids, before))
    assert_alike(stored(engine), standing)


def test_a_session_ended_twice_adds_nothing(engine: Engine) -> None:
    session_ids = do_nights(engine, range(12))
    before = stored(engine)

    for session_id in session_ids:
        with writing(engine) as session:
            look_at_session(session, session_id, now=NOW)

    assert stored(engine) == before


def test_two_sessions_that_end_at_once_lose_nothing(engine: Engine) -> None:
    do_nights(engine, range(10))
    open_jobs = [do_night(engine, night, finished=False)[1] for night in (10, 11)]

    at_once([partial(path.finish, engine, job) for job in open_jobs])

    found = stored(engine)
    assert {each.standing.age for each in found} == {12}
    assert {len(set(each.standing.looks)) for each in found} == {12}


def test_sessions_of_two_hosts_that_end_at_once_lose_nothing(engine: Engine) -> None:
    open_jobs = [do_night(engine, night, host=f"h{night}", finished=False)[1] for night in range(6)]

    at_once([partial(path.finish, engine, job) for job in open_jobs])

    found = stored(engine)
    assert len(found) == 6 * len(CELLS) * 3
    assert {each.standing.age for each in found} == {1}


def test_the_baseline_beside_a_candidate_is_no_night_of_the_history(engine: Engine) -> None:
    for night in range(3):
        arms = (OLD, stack_of(night), stack_of(night), OLD)
        do_night(engine, night, arms=arms)

    found = told(engine)
    assert {each.runs for each in found} == {3}
    assert {each.stack_key for each in found} == {stack_of(2).key}


def test_a_stack_built_earlier_takes_its_place_among_the_others(engine: Engine) -> None:
    nights = [*NIGHTS]
    random.Random(5).shuffle(nights)

    do_nights(engine, nights, slower=step)

    (event,) = events(engine)
    assert {each.condition_key for each in event.moved} == MOVED
    assert abs(int(event.stack_name.removeprefix("nightly-")) - STEP) <= 1
    assert {each.answer for each in told(engine) if each.condition_key in MOVED} == {Answer.SUSPECT}


def test_a_cell_without_a_value_that_night_is_presumed(engine: Engine) -> None:
    do_nights(engine, range(STEP), slower=step)
    missing = CELLS[3]
    for night in NIGHTS[STEP:]:
        do_night(engine, night, slower=step)
        # What is broken or withdrawn leaves a hole in the row of its night.
        gone = runs_of(engine, {stack_of(night).key})
        withdraw(engine, [run.id for run in gone if run.condition_key == missing.key])

    (event,) = events(engine)
    assert {each.condition_key for each in event.moved} == MOVED
    assert {each.condition_key for each in event.presumed} == {missing.key}
    assert len(event.presumed) == 3


def test_imported_results_enter_where_their_host_is_known(engine: Engine) -> None:
    known = imported.import_order([imported.result(1), imported.result(2, scale=1.02)])
    unknown = imported.import_order([imported.result(3)], host=None)

    imported.bring(engine, known)
    imported.bring(engine, unknown)

    found = stored(engine)
    assert {each.series.host for each in found} == {"h1"}
    assert {each.series.metric for each in found} == {"ttft_p50", "output_throughput"}
    assert {len(each.standing.looks) for each in found} == {1}


def test_pages_of_screens_hold_each_series_once(engine: Engine) -> None:
    do_nights(engine, range(2))
    seen: list[SeriesScreen] = []
    cursor: str | None = None

    with reading(engine) as session:
        while True:
            page = list_screens(session, ScreenFilter(), limit=5, cursor=cursor)
            seen += page.screens
            if (cursor := page.cursor) is None:
                break

    assert tuple(seen) == told(engine)


def assert_alike(found: Sequence[StoredScreen], expected: Sequence[StoredScreen]) -> None:
    """Assert that screens stand at one place, but for the last digit of a number."""
    assert [each.series for each in found] == [each.series for each in expected]
    for one, other in zip(found, expected, strict=True):
        assert one.standing.values == pytest.approx(other.standing.values)
        assert one.standing.looks == other.standing.looks
        assert (one.standing.age, one.answer, one.run_id, one.event_id is None) == (
            other.standing.age,
            other.answer,
            other.run_id,
            other.event_id is None,
        )


def _without_ids(event: EventRead) -> EventRead:
    """Return an event without its id, and with numbers as they are read."""
    rounded = tuple(
        each.model_copy(
            update={"change": round(each.change, 9), "evidence": round(each.evidence, 9)}
        )
        for each in event.moved
    )
    change = None if event.change is None else round(event.change, 9)
    return event.model_copy(update={"id": UUID(int=0), "moved": rounded, "change": change})
