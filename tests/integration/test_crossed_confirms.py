"""A change that needs a reboot is not interleaved: canary and control hosts say what it did."""

from dataclasses import replace
from datetime import date, timedelta
from uuid import UUID, uuid4

from sqlalchemy import Engine

from service.domain.cell import Cell
from service.domain.confirm import Ending, State
from service.domain.layer import Layer
from service.domain.qualification import Phase, Step
from service.domain.stack import Component, Stack, SwapScope
from service.domain.verdict import Outcome
from service.formats.qualifications import ActDone, PhaseSessions, QualificationOrder
from service.store import events, looks
from service.store.database import reading, writing
from service.store.events import StoredEvent, StoredMoved
from service.store.incidents import IncidentFilter
from service.store.series import SeriesKey
from service.usecases.qualify import measure_phase, open_qualification, tell_done
from service.usecases.read_incidents import list_incidents, read_incident
from tests.integration import builders, path
from tests.integration.builders import NOW, PROTOCOL
from tests.integration.confirming import asked, read, swept

CELL = builders.condition(concurrency=4)
SLOWER = 1.2
LAUNCHES = 3


def with_driver(version: str) -> Stack:
    driver = Component("driver", version, Layer.DRIVER, SwapScope.HOST)
    made = builders.stack("0.5.23")
    return replace(made, name=f"driver-{version}", components=(*made.components, driver))


BEFORE, AFTER = with_driver("5.0"), with_driver("5.1")


def measured(engine: Engine, stack: Stack, host: str, *, scale: float = 1.0) -> UUID:
    """Measure a stack on a host, in as many launches as a crossover needs."""
    order = builders.session_order(arms=[stack] * LAUNCHES, conditions=[CELL], baseline=None)
    built = date(2026, 10, 2 if stack is AFTER else 1)
    own = tuple(each.model_copy(update={"built_at": built}) for each in order.stacks)
    order = order.model_copy(update={"stacks": own, "host": host})
    session_id = path.submit(engine, order, uuid4().hex)
    runner = builders.claim(f"r-{host}", host=host)
    while (job := path.claim(engine, runner)) is not None:
        launch = builders.launch_report(job, launch_id=job.job_id)
        path.tell_launch(engine, launch.model_copy(update={"host": host}))
        luck = scale * (1 + job.ordinal / 200)
        path.report(engine, builders.run_report(job, launch_id=job.job_id, scale=luck))
        path.finish(engine, job)
    return session_id


def suspected(engine: Engine, before: UUID, after: UUID) -> UUID:
    """Keep the event that a screen with a longer history would have seen on the canary."""
    event_id = uuid4()
    with writing(engine) as session:
        seen = looks.of_session(session, after)[AFTER.key]
        assert looks.of_session(session, before)
        series = SeriesKey(Cell(CELL.key, PROTOCOL.key), "tpot_p50", "h1")
        event = StoredEvent(
            id=event_id,
            host="h1",
            is_host=False,
            part_of=None,
            worse=True,
            trigger="decode",
            metric="tpot_p50",
            change=SLOWER - 1,
            measured=1,
            presumed=[],
            change_look=seen.number,
            change_stack_key=AFTER.key,
            before_stack_key=BEFORE.key,
            seen_look=seen.number,
            seen_at=NOW,
        )
        moved = StoredMoved(event_id, series, SLOWER - 1, 9.0, seen.number)
        events.keep(session, [event], [moved])
    return event_id


def qualified(engine: Engine, *, before: tuple[UUID, UUID], after: tuple[UUID, UUID]) -> None:
    """Tell of a crossover that was measured before and after the driver was swapped."""
    order = QualificationOrder(
        from_stack=builders.stack_order(BEFORE),
        to_stack=builders.stack_order(AFTER),
        plan="demo",
        canary="h1",
        control="h2",
    )
    with writing(engine) as session:
        opened = open_qualification(session, order, who="ann", now=NOW)
        told = PhaseSessions(phase=Phase.BEFORE, canary=before[0], control=before[1])
        found = measure_phase(session, opened.id, told, who="ada", now=NOW)
        done = ActDone(step=Step.CHANGE, ticked=found.checklist)
        tell_done(session, opened.id, done, who="ann", now=NOW)
        told = PhaseSessions(phase=Phase.AFTER, canary=after[0], control=after[1])
        measure_phase(session, opened.id, told, who="ada", now=NOW)


def test_a_driver_is_judged_by_canary_and_control_and_its_incident_says_so(
    engine: Engine,
) -> None:
    before = measured(engine, BEFORE, "h1"), measured(engine, BEFORE, "h2")
    after = measured(engine, AFTER, "h1", scale=SLOWER), measured(engine, BEFORE, "h2")
    event_id = suspected(engine, before[0], after[0])
    waiting = asked(engine, event_id, now=NOW)
    qualified(engine, before=before, after=after)
    swept(engine, now=NOW + timedelta(hours=1))

    ended = read(engine, waiting.id)
    with reading(engine) as session:
        (incident,) = list_incidents(session, IncidentFilter(), limit=5, cursor=None).incidents
        detail = read_incident(session, incident.id)
    (cell,) = incident.cells
    assert (waiting.state, waiting.interleaved) == (State.WAITING, False)
    assert "kunline qualify --from driver-5.0 --to driver-5.1" in waiting.reason
    assert (ended.outcome, ended.ended_by) == (Outcome.REGRESSED, Ending.NOT_INTERLEAVED)
    assert (ended.spent.launches, ended.session_id) == (0, None)
    assert ended.reason.startswith("not interleaved: canary and control hosts")
    assert 0.15 < (cell.low or 0) < cell.change < (cell.high or 0) < 0.25
    assert len(cell.run_ids) == 4 * LAUNCHES
    assert [each.interleaved for each in detail.confirms] == [False]


def test_an_equal_driver_is_unchanged(engine: Engine) -> None:
    before = measured(engine, BEFORE, "h1"), measured(engine, BEFORE, "h2")
    after = measured(engine, AFTER, "h1"), measured(engine, BEFORE, "h2")
    event_id = suspected(engine, before[0], after[0])
    qualified(engine, before=before, after=after)

    ended = asked(engine, event_id, now=NOW)

    assert (ended.outcome, ended.interleaved) == (Outcome.UNCHANGED, False)


def test_one_that_nobody_measures_across_ends_after_two_weeks(engine: Engine) -> None:
    before, after = measured(engine, BEFORE, "h1"), measured(engine, AFTER, "h1", scale=SLOWER)
    waiting = asked(engine, suspected(engine, before, after), now=NOW)
    swept(engine, now=NOW + timedelta(days=13))
    still = read(engine, waiting.id).state
    swept(engine, now=NOW + timedelta(days=15))

    ended = read(engine, waiting.id)
    assert still is State.WAITING
    assert (ended.outcome, ended.ended_by) == (Outcome.INCONCLUSIVE, Ending.NOT_INTERLEAVED)
