"""Confirms: a suspicion measured again on both stacks, up to its one incident."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from uuid import UUID

import pytest
from sqlalchemy import Engine

from service.domain.confirm import Budget, Ending, State
from service.domain.job import JobState
from service.domain.verdict import Outcome
from service.formats.baselines import BaselinePin
from service.formats.events import EventRead
from service.store import confirms
from service.store.database import reading, writing
from service.store.events import EventFilter
from service.usecases.cancel_confirm import cancel_confirm
from service.usecases.confirm_budget import read_budget
from service.usecases.confirm_content import content_of
from service.usecases.move_baseline import FrozenBaselineError
from service.usecases.pin_baseline import pin_baseline
from service.usecases.read_events import list_events
from service.usecases.read_incidents import read_incident, read_record
from tests.integration import builders, path
from tests.integration.confirming import (
    BUDGET,
    SLOWER,
    after,
    asked,
    confirms_of,
    cost,
    do_job,
    incidents_of,
    measured,
    read,
    states_of,
    swept,
)


@pytest.fixture
def engine(history: Engine) -> Engine:
    """Name what the tests here are given."""
    return history


def test_a_fresh_suspicion_is_confirmed_without_being_asked_and_opens_one_incident(
    engine: Engine, event: EventRead
) -> None:
    for _ in range(2):
        swept(engine, now=after(event))
    launched = measured(engine, event)

    (confirm,), (incident,) = confirms_of(engine), incidents_of(engine)
    assert (confirm.state, confirm.outcome) == (State.ENDED, Outcome.REGRESSED)
    assert (confirm.ended_by, confirm.incident_id) == (Ending.LOOK, incident.id)
    assert set(launched) == {event.before_stack_name, event.seen_stack_name}
    assert confirm.spent.launches == len(launched)
    assert confirm.spent.card_s == pytest.approx(60.0 * len(launched))
    assert (incident.opened_by, incident.event_id) == ("kunline", event.id)
    assert incident.candidate_stack_key == confirm.candidate_stack_key


def test_its_incident_freezes_the_baseline_of_its_cells_and_shows_the_confirm(
    engine: Engine, event: EventRead
) -> None:
    swept(engine, now=after(event))
    measured(engine, event)
    (incident,) = incidents_of(engine)
    wanted = BaselinePin(
        stack_key=event.seen_stack_key,
        condition_keys=(incident.cells[0].condition_key,),
        why="release",
    )

    with pytest.raises(FrozenBaselineError), writing(engine) as session:
        pin_baseline(session, wanted, who="ann", now=after(event))
    with reading(engine) as session:
        detail = read_incident(session, incident.id)
    assert [each.outcome for each in detail.confirms] == [Outcome.REGRESSED]


def prefill_as_well(engine: Engine, confirm_id: UUID) -> None:
    """Judge the first cell of a confirm by its time to the first token beside."""
    with writing(engine) as session:
        found = confirms.read(session, confirm_id)
        content = content_of(found)
        more = content.cells[0].model_copy(update={"metric": "ttft_p50"})
        cells = content.model_copy(update={"cells": (*content.cells, more)})
        confirms.change(session, replace(found, content=cells.model_dump(mode="json")))


def test_a_regime_that_is_told_later_is_waited_for_and_what_was_told_stays(
    engine: Engine, event: EventRead
) -> None:
    prefill_as_well(engine, asked(engine, event.id, now=after(event)).id)
    runner = builders.claim("h1", host="h1", incarnation=UUID(int=99))
    odd = iter((1.0, 0.9, 1.2))
    while (job := path.claim(engine, runner, now=after(event))) is not None:
        is_slow = job.stack.stack.name == event.seen_stack_name
        # After the burn-in the first two launches of the candidate tell nothing of prefill.
        luck = next(odd, 1.2) if is_slow else 1.0
        do_job(engine, job, SLOWER if is_slow else 1.0, ttft=luck, now=after(event))

    (confirm,), (incident,) = confirms_of(engine), incidents_of(engine)
    assert confirm.outcome is Outcome.REGRESSED
    launches = {each.metric: each.baseline_launches for each in confirm.cells}
    assert launches["output_throughput"] == 2 < launches["ttft_p50"]
    assert confirm.spent.launches > 2 * 2
    assert {cell.metric for cell in incident.cells if cell.low is not None} == {*launches}
    assert incident.title.startswith("prefill and decode worse since ")


def test_equal_stacks_are_unchanged_open_nothing_and_count_against_the_screen(
    engine: Engine, event: EventRead
) -> None:
    swept(engine, now=after(event))
    measured(engine, event, slower=1.0)

    (confirm,) = confirms_of(engine)
    with reading(engine) as session:
        record = read_record(session)
        again = list_events(session, EventFilter(), limit=5, cursor=None).events
    assert (confirm.outcome, confirm.ended_by) == (Outcome.UNCHANGED, Ending.LOOK)
    assert incidents_of(engine) == ()
    assert (record.confirms.unchanged, record.screen_false_alarm_rate) == (1, 1.0)
    assert again == (event,)


def test_a_second_confirm_of_an_event_joins_its_incident(engine: Engine, event: EventRead) -> None:
    first = asked(engine, event.id, now=after(event))
    assert asked(engine, event.id, now=after(event)).id == first.id
    measured(engine, event)
    second = asked(engine, event.id, launches=14, now=after(event, hours=2))
    measured(engine, event, hours=2)

    (incident,) = incidents_of(engine)
    assert {read(engine, each.id).incident_id for each in (first, second)} == {incident.id}
    listed = [(cell.condition_key, cell.metric) for cell in incident.cells]
    assert len(listed) == len(set(listed))
    assert {cell.session_id for cell in incident.cells if cell.low is not None} == {
        second.session_id
    }


def test_a_night_that_is_spent_makes_it_wait_and_says_so_until_another(
    engine: Engine, event: EventRead
) -> None:
    tight = Budget(night=cost(9))
    asked(engine, event.id, budget=tight, now=after(event))
    measured(engine, event, slower=1.0)
    waiting = asked(engine, event.id, budget=tight, launches=9, now=after(event, hours=2))
    swept(engine, now=after(event, hours=20), budget=tight)
    still = read(engine, waiting.id)
    swept(engine, now=after(event, hours=26), budget=tight)

    assert (waiting.state, waiting.session_id) == (State.WAITING, None)
    assert waiting.reason.startswith("over budget: the first look needs 4 launches")
    assert still.state is State.WAITING
    assert read(engine, waiting.id).state is State.RUNNING


def test_a_running_confirm_holds_all_it_may_cost_and_gives_the_rest_back(
    engine: Engine, event: EventRead
) -> None:
    found = asked(engine, event.id, now=after(event))
    with reading(engine) as session:
        held = read_budget(session, BUDGET, now=after(event))
    launched = measured(engine, event, slower=1.0)
    with reading(engine) as session:
        given_back = read_budget(session, BUDGET, now=after(event))

    assert held.spent == found.planned
    assert given_back.spent.launches == len(launched) == 6


def test_a_cancelled_one_measures_nothing_more_and_concludes_nothing(
    engine: Engine, event: EventRead
) -> None:
    found = asked(engine, event.id, now=after(event))
    measured(engine, event, most=3)
    for _ in range(2):
        with writing(engine) as session:
            cancel_confirm(session, found.id, who="ann", now=after(event))

    ended = read(engine, found.id)
    assert (ended.outcome, ended.ended_by) == (Outcome.INCONCLUSIVE, Ending.CANCELLED)
    assert (ended.reason, ended.spent.launches) == ("ann cancelled it", 3)
    assert measured(engine, event) == []


def test_a_launch_that_was_lost_is_measured_again_and_costs_what_was_planned(
    engine: Engine, event: EventRead
) -> None:
    asked(engine, event.id, now=after(event))
    measured(engine, event, most=2)
    runner = builders.claim("h1", host="h1", incarnation=UUID(int=99))
    for hour in range(1, path.LEASING.attempts_max + 1):
        path.claimed(engine, runner, now=after(event, hours=hour))
        swept(engine, now=after(event, hours=hour + 0.5))
    measured(engine, event, slower=1.0, hours=5)

    (confirm,) = confirms_of(engine)
    given_up = states_of(engine, confirm)[JobState.GIVEN_UP]
    assert (confirm.outcome, given_up) == (Outcome.UNCHANGED, 1)
    assert confirm.spent.launches in {9, 10}


def test_sweeps_at_one_time_begin_one_confirm(engine: Engine, event: EventRead) -> None:
    with ThreadPoolExecutor(4) as pool:
        for each in [pool.submit(swept, engine, now=after(event)) for _ in range(4)]:
            each.result()

    assert len(confirms_of(engine)) == 1
