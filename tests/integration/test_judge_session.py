"""Verdicts of what is stored: by the control, by a pin, or a sentence that says why not."""

from uuid import UUID

import pytest
from sqlalchemy import Engine

from service.domain.layer import Layer
from service.domain.policy import Policy
from service.domain.verdict import Outcome
from service.formats.baselines import BaselinePin, BaselineRead
from service.formats.comparisons import CellComparison, CellsCompared, SessionVerdicts
from service.formats.reports import Broken
from service.store.database import reading, writing
from service.store.runs import RunFilter
from service.usecases.compare_stored import (
    NothingMeasuredError,
    UnlikeKindsError,
    compare_stored,
)
from service.usecases.judge_session import judge_session
from service.usecases.pin_baseline import NothingToPinError, list_baselines, pin_baseline
from service.usecases.read_runs import list_runs
from tests.integration import builders, path
from tests.integration.builders import NEW, NOW, OLD


def verdicts(engine: Engine, session_id: UUID, *, baseline: str | None = None) -> SessionVerdicts:
    with reading(engine) as session:
        return judge_session(session, session_id, baseline=baseline)


def pin(engine: Engine, key: str = OLD.key) -> tuple[BaselineRead, ...]:
    wanted = BaselinePin(stack_key=key, why="the release")
    with writing(engine) as session:
        return pin_baseline(session, wanted, who="ann", now=NOW)


def compare(engine: Engine, baseline: str, candidate: str) -> CellsCompared:
    with reading(engine) as session:
        return compare_stored(
            session, baseline=baseline, candidate=candidate, policy=Policy(min_repeats=2)
        )


def outcomes(cell: CellComparison) -> dict[str, Outcome]:
    return {verdict.metric: verdict.outcome for verdict in cell.comparison.verdicts}


def test_a_slower_candidate_is_regressed_against_its_control(engine: Engine) -> None:
    session_id = path.do_session(engine, builders.session_order(), scales={NEW.name: 1.5})

    answer = verdicts(engine, session_id)

    assert answer.finished
    assert answer.outcome is Outcome.REGRESSED
    assert len(answer.cells) == 2
    cell = answer.cells[0]
    assert (cell.against, cell.baseline_launches, cell.candidate_launches) == ("control", 2, 2)
    assert outcomes(cell)["output_throughput"] is Outcome.REGRESSED
    assert cell.comparison.verdicts[0].worsening == pytest.approx(0.5, abs=0.01)
    assert cell.comparison.warnings == ()


def test_a_stack_is_pinned_by_the_first_digits_of_its_key(engine: Engine) -> None:
    path.do_session(engine, builders.session_order())

    assert {read.stack_key for read in pin(engine, OLD.key[:12])} == {OLD.key}


@pytest.mark.parametrize(
    ("moved", "said"),
    [
        pytest.param(0.0, False, id="alike"),
        pytest.param(0.5, True, id="another answer"),
    ],
)
def test_a_candidate_that_answers_otherwise_is_said_beside_its_speed(
    engine: Engine, moved: float, said: bool
) -> None:
    session_id = path.submit(engine, builders.session_order())
    while (order := path.claim(engine, builders.claim())) is not None:
        shift = moved if order.stack.key == NEW.key else 0.0
        answer = (-2.0, -3.0 - shift)
        path.tell_launch(
            engine, builders.launch_report(order, launch_id=order.job_id, answer=answer)
        )
        for cell in range(len(order.launch.cells)):
            path.report(engine, builders.run_report(order, cell=cell, launch_id=order.job_id))
        path.finish(engine, order)

    warnings = verdicts(engine, session_id).cells[0].comparison.warnings

    assert any("answers moved by 0.5" in warning for warning in warnings) is said


def test_an_equal_candidate_is_not_regressed(engine: Engine) -> None:
    session_id = path.do_session(engine, builders.session_order())

    answer = verdicts(engine, session_id)

    assert answer.outcome in {Outcome.UNCHANGED, Outcome.INCONCLUSIVE}


def test_a_cell_without_a_run_yet_is_missing_and_says_so(engine: Engine) -> None:
    session_id = path.submit(engine, builders.session_order())

    answer = verdicts(engine, session_id)

    assert not answer.finished
    assert answer.outcome is Outcome.MISSING
    assert "not measured yet: its job is queued" in answer.cells[0].comparison.verdicts[0].reason


def test_without_a_pin_there_is_no_baseline(engine: Engine) -> None:
    session_id = path.do_session(engine, builders.session_order(arms=(NEW, NEW), baseline=None))

    answer = verdicts(engine, session_id)

    assert answer.outcome is Outcome.INSUFFICIENT_BASELINE
    assert "no baseline is pinned" in answer.cells[0].comparison.verdicts[0].reason
    assert answer.cells[0].baseline_stack_key is None


def test_a_pinned_baseline_of_the_same_host_is_judged_with_a_warning(engine: Engine) -> None:
    path.do_session(engine, builders.session_order(arms=(OLD, OLD), baseline=None))
    pins = pin(engine)
    session_id = path.do_session(
        engine, builders.session_order(arms=(NEW, NEW), baseline=None), "two", scales={NEW.name: 2}
    )

    answer = verdicts(engine, session_id)

    assert len(pins) == 2
    assert answer.outcome is Outcome.REGRESSED
    assert answer.cells[0].against == "pinned"
    assert "not interleaved: measured at another time" in answer.cells[0].comparison.warnings


def test_a_pinned_baseline_of_another_host_is_insufficient_and_says_why(engine: Engine) -> None:
    path.do_session(engine, builders.session_order(arms=(OLD,), baseline=None))
    pin(engine)
    session_id = path.submit(engine, builders.session_order(arms=(NEW,), baseline=None), "two")
    path.do_job(engine, path.claimed(engine, builders.claim("r9", host="h9")))

    answer = verdicts(engine, session_id)

    assert answer.outcome is Outcome.INSUFFICIENT_BASELINE
    reason = answer.cells[0].comparison.verdicts[0].reason
    assert "cpu-0.5.18 has no launch on host h9" in reason


def test_stack_drift_is_named_and_never_judged(engine: Engine) -> None:
    session_id = path.submit(engine, builders.session_order())
    while (order := path.claim(engine)) is not None:
        observed = dict(order.stack.stack.versions)
        if order.stack.key == NEW.key:
            observed["torch"] = "2.8.0"
        path.tell_launch(engine, builders.launch_report(order, observed=observed))
        for cell in range(2):
            path.report(engine, builders.run_report(order, cell=cell))
        path.finish(engine, order)

    answer = verdicts(engine, session_id)

    assert answer.outcome is Outcome.INVALID
    assert "stack drift: torch: 2.9.1 ≠ 2.8.0" in answer.cells[0].comparison.verdicts[0].reason


def test_a_broken_candidate_names_its_layer(engine: Engine) -> None:
    session_id = path.submit(engine, builders.session_order(arms=(OLD, NEW)))
    path.do_job(engine, path.claimed(engine))
    order = path.claimed(engine)
    broken = Broken(layer=Layer.SERVER, finding="exited with 1")
    path.tell_launch(engine, builders.launch_report(order, broken=broken))
    path.finish(engine, order)

    answer = verdicts(engine, session_id)

    assert answer.outcome is Outcome.BROKEN
    assert "broken at server: exited with 1" in answer.cells[0].comparison.verdicts[0].reason


def test_any_stack_may_be_named_as_the_baseline(engine: Engine) -> None:
    session_id = path.do_session(engine, builders.session_order(), scales={NEW.name: 1.5})

    answer = verdicts(engine, session_id, baseline=NEW.key[:12])

    assert answer.outcome is Outcome.IMPROVED
    assert {cell.candidate_stack_key for cell in answer.cells} == {OLD.key}


def test_a_new_pin_takes_the_old_ones_place_and_the_old_one_stays_as_history(
    engine: Engine,
) -> None:
    path.do_session(engine, builders.session_order())
    pin(engine, OLD.key)

    pin(engine, NEW.key)

    with reading(engine) as session:
        now = list_baselines(session, channel="main", history=False)
        ever = list_baselines(session, channel="main", history=True)
    assert {found.stack_key for found in now} == {NEW.key}
    assert len(ever) == 4
    assert all(found.pinned_by == "ann" and found.why == "the release" for found in ever)


def test_a_stack_that_was_never_measured_cannot_be_pinned(engine: Engine) -> None:
    path.submit(engine, builders.session_order())

    with pytest.raises(NothingToPinError):
        pin(engine)


def test_two_stored_stacks_are_compared_cell_by_cell(engine: Engine) -> None:
    path.do_session(engine, builders.session_order(), scales={NEW.name: 1.5})

    answer = compare(engine, OLD.key[:12], NEW.key[:12])

    assert answer.comparable
    assert (answer.baseline, answer.candidate) == (OLD.key, NEW.key)
    assert answer.outcome is Outcome.REGRESSED
    assert len(answer.cells) == 2


def test_stacks_without_a_shared_condition_are_refused_by_field(engine: Engine) -> None:
    one, other = builders.condition(concurrency=1), builders.condition(concurrency=8)
    path.do_session(engine, builders.session_order(arms=(OLD,), conditions=[one]))
    path.do_session(
        engine, builders.session_order(arms=(NEW,), conditions=[other], baseline=None), "two"
    )

    answer = compare(engine, OLD.key, NEW.key)

    assert not answer.comparable
    assert answer.outcome is Outcome.NOT_COMPARABLE
    assert [(each.field, each.baseline, each.candidate) for each in answer.differences] == [
        ("traffic.concurrency", "1", "8")
    ]


def test_two_runs_are_compared_by_id(engine: Engine) -> None:
    path.do_session(engine, builders.session_order(arms=(OLD, NEW)), scales={NEW.name: 2})
    key = builders.condition(concurrency=1).key
    with reading(engine) as session:
        page = list_runs(session, RunFilter(condition_key=key), limit=10, cursor=None)
    by_stack = {run.stack_key: str(run.id) for run in page.runs}

    answer = compare(engine, by_stack[OLD.key], by_stack[NEW.key])

    assert answer.outcome is Outcome.REGRESSED


def test_a_run_and_a_stack_are_not_compared(engine: Engine) -> None:
    with pytest.raises(UnlikeKindsError):
        compare(engine, OLD.key, str(UUID(int=1)))


def test_a_stack_without_a_run_is_not_compared(engine: Engine) -> None:
    path.submit(engine, builders.session_order())

    with pytest.raises(NothingMeasuredError):
        compare(engine, OLD.key, NEW.key)
