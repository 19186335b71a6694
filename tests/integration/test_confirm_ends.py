"""Confirms: what they may cost, which launches count, and all the ways in which they end."""

from collections import Counter

import pytest
from sqlalchemy import Engine, delete, update

from service.domain.confirm import Budget, Ending, State
from service.domain.job import JobState
from service.domain.verdict import Outcome
from service.formats.events import EventRead
from service.store import runs
from service.store.database import reading, writing
from service.store.tables import EventRow, MovedRow
from service.usecases.cancel_session import cancel_session
from service.usecases.read_events import read_event
from tests.integration.confirming import (
    SLOWER,
    after,
    asked,
    claimed_and_broken,
    confirms_of,
    cost,
    incidents_of,
    measured,
    read,
    states_of,
    swept,
)


@pytest.fixture
def engine(history_copy: Engine) -> Engine:
    """Take SQLite alone: what is asked here is the same on both databases."""
    return history_copy


def test_the_size_is_of_its_own_launches_and_never_of_the_run_that_raised_the_suspicion(
    engine: Engine, event: EventRead
) -> None:
    swept(engine, now=after(event))
    measured(engine, event)

    (confirm,), (incident,) = confirms_of(engine), incidents_of(engine)
    with reading(engine) as session:
        triggering = set(read_event(session, event.id).run_ids)
        own = {run.id for run in runs.of_session(session, confirm.session_id or event.id, limit=99)}
    told = [cell for cell in incident.cells if cell.low is not None]
    assert told
    for cell in told:
        assert set(cell.run_ids) <= own - triggering
        assert cell.session_id == confirm.session_id
        assert cell.change == pytest.approx(SLOWER - 1, abs=0.03)
        assert 0 < (cell.low or 0) < cell.change < (cell.high or 0)
    assert all(cell.verdict and cell.verdict.smallest_detectable for cell in confirm.cells)


def test_an_event_that_was_confirmed_is_not_confirmed_again_by_itself(
    engine: Engine, event: EventRead
) -> None:
    swept(engine, now=after(event))
    measured(engine, event, slower=1.0)
    swept(engine, now=after(event, hours=2))

    assert len(confirms_of(engine)) == 1


def test_an_old_suspicion_waits_for_a_person_and_none_is_confirmed_where_that_is_off(
    engine: Engine, event: EventRead
) -> None:
    swept(engine, now=after(event, hours=24 * 5))
    swept(engine, now=after(event), budget=Budget(automatic=False))

    assert confirms_of(engine) == ()
    assert asked(engine, event.id, now=after(event)).state is State.RUNNING


def test_launches_of_cold_caches_are_thrown_away_and_blocks_hold_both_stacks(
    engine: Engine, event: EventRead
) -> None:
    swept(engine, now=after(event))
    launched = measured(engine, event, slower=1.04)

    (confirm,) = confirms_of(engine)
    with reading(engine) as session:
        its_runs = runs.of_session(session, confirm.session_id or event.id, limit=99)
    withdrawn = [run.withdrawal.reason for run in its_runs if run.withdrawal is not None]
    assert confirm.burn_in == 1
    assert len(withdrawn) == 2 * len(confirm.cells)
    assert all(reason.startswith("burn-in of confirm") for reason in withdrawn)
    assert all(len(set(launched[at : at + 2])) == 2 for at in range(0, len(launched), 2))


def test_stacks_that_ran_lately_have_warm_caches(engine: Engine, event: EventRead) -> None:
    asked(engine, event.id, now=after(event))
    measured(engine, event, slower=1.0)

    again = asked(engine, event.id, launches=14, now=after(event, hours=2))

    assert (again.burn_in, again.counts) == (0, (2, 4, 6))


def test_what_no_night_would_pay_for_ends_at_once_without_a_launch(
    engine: Engine, event: EventRead
) -> None:
    found = asked(engine, event.id, budget=Budget(each=cost(5)), now=after(event))

    assert (found.outcome, found.ended_by) == (Outcome.INCONCLUSIVE, Ending.BUDGET)
    assert (found.spent.launches, found.session_id) == (0, None)
    assert "the first look needs 6 launches" in found.reason


def test_a_small_budget_plans_fewer_looks_and_spends_no_more_than_it_has(
    engine: Engine, event: EventRead
) -> None:
    found = asked(engine, event.id, budget=Budget(night=cost(9)), now=after(event))
    launched = measured(engine, event, slower=1.04)

    assert found.counts == (2,)
    assert len(launched) <= 9
    assert read(engine, found.id).state is State.ENDED


def test_launches_that_take_longer_than_planned_end_it_before_the_budget_is_passed(
    engine: Engine, event: EventRead
) -> None:
    budget = Budget(each=cost(14, 1000.0))
    found = asked(engine, event.id, budget=budget, now=after(event))
    launched = measured(engine, event, slower=1.04, launch_s=150.0)

    ended = read(engine, found.id)
    assert len(launched) == 6
    assert (ended.outcome, ended.ended_by) == (Outcome.INCONCLUSIVE, Ending.BUDGET)
    assert ended.spent.card_s == pytest.approx(900.0)
    assert "the next look needs 4 launches and 600 card-seconds more" in ended.reason
    assert states_of(engine, ended)[JobState.CANCELLED] == 8


def test_a_broken_launch_is_measured_once_more_at_the_end(engine: Engine, event: EventRead) -> None:
    asked(engine, event.id, now=after(event))
    measured(engine, event, most=2)
    claimed_and_broken(engine, event)
    measured(engine, event, slower=1.0)

    (confirm,) = confirms_of(engine)
    assert confirm.outcome is Outcome.UNCHANGED
    # In which block it was, and so what the first look had to wait for, is drawn by lot.
    assert confirm.spent.launches in {7, 8}
    assert all(cell.candidate_launches == cell.baseline_launches for cell in confirm.cells)


def test_a_stack_that_breaks_again_ends_it_and_says_where(engine: Engine, event: EventRead) -> None:
    found = asked(engine, event.id, now=after(event))
    measured(engine, event, most=2)
    stacks = [claimed_and_broken(engine, event) for _ in range(3)]

    ended = read(engine, found.id)
    twice = Counter(stacks).most_common(1)[0][0]
    arm = "baseline" if twice == event.before_stack_name else "candidate"
    assert (ended.outcome, ended.ended_by) == (Outcome.INCONCLUSIVE, Ending.BROKEN)
    assert f"the {arm} broke in 2 launches, at server: died while loading" in ended.reason
    assert incidents_of(engine) == ()


def test_one_whose_session_was_cancelled_ends_with_the_next_sweep(
    engine: Engine, event: EventRead
) -> None:
    found = asked(engine, event.id, now=after(event))
    with writing(engine) as session:
        cancel_session(session, found.session_id or event.id, now=after(event))
    swept(engine, now=after(event, hours=2))

    assert read(engine, found.id).ended_by is Ending.CANCELLED


def test_one_that_no_runner_comes_for_ends_after_a_day(engine: Engine, event: EventRead) -> None:
    found = asked(engine, event.id, now=after(event))
    swept(engine, now=after(event, hours=20))
    waits = read(engine, found.id).state
    swept(engine, now=after(event, hours=26))

    ended = read(engine, found.id)
    assert waits is State.RUNNING
    assert (ended.ended_by, ended.spent.launches) == (Ending.NOBODY_CAME, 0)
    assert "no runner of h1 came" in ended.reason


def test_where_only_a_sum_alarmed_the_cheapest_cells_of_its_group_are_measured(
    engine: Engine, event: EventRead
) -> None:
    with writing(engine) as session:
        session.execute(delete(MovedRow))
        session.execute(update(EventRow).values(trigger="prefill"))

    found = asked(engine, event.id, now=after(event))

    assert found.state is State.RUNNING
    assert {(cell.metric, cell.evidence) for cell in found.cells} == {("ttft_p50", 1.0)}
