"""A run is withdrawn and restored by a person: audited, shown everywhere, and never judged."""

from functools import partial
from uuid import UUID, uuid4

import pytest
from sqlalchemy import Engine

from service.domain.audit import Act, Noun
from service.domain.policy import Policy
from service.domain.verdict import Outcome
from service.formats.audits import AuditRead
from service.formats.baselines import BaselinePin
from service.formats.withdrawals import RestorationOrder, WithdrawalOrder, WithdrawalRead
from service.store import audits
from service.store.database import reading, writing
from service.store.runs import RunFilter, UnknownRunError
from service.store.tables import AuditRow
from service.usecases.compare_stored import compare_stored
from service.usecases.judge_session import judge_session
from service.usecases.pin_baseline import NothingToPinError, list_baselines, pin_baseline
from service.usecases.read_runs import list_runs, read_run
from service.usecases.withdraw_run import (
    AlreadyWithdrawnError,
    NotWithdrawnError,
    ReplacedRunError,
    ReplacementError,
    read_history,
    restore_run,
    withdraw_run,
)
from tests.integration import builders, path
from tests.integration.builders import NEW, NOW, OLD
from tests.integration.imported import bring, import_order, result, run_id_of
from tests.integration.test_concurrency import at_once


def withdraw(
    engine: Engine,
    run_id: UUID,
    reason: str = "wrong driver",
    *,
    replaced_by: UUID | None = None,
    who: str = "ann",
) -> WithdrawalRead:
    with writing(engine) as session:
        order = WithdrawalOrder(reason=reason, replaced_by=replaced_by)
        return withdraw_run(session, run_id, order, who=who, now=NOW)


def restore(engine: Engine, run_id: UUID, reason: str = "it was right") -> AuditRead:
    with writing(engine) as session:
        return restore_run(session, run_id, RestorationOrder(reason=reason), who="bob", now=NOW)


def run_ids(engine: Engine, stack_key: str) -> list[UUID]:
    with reading(engine) as session:
        page = list_runs(session, RunFilter(stack_key=stack_key), limit=50, cursor=None)
    return [run.id for run in page.runs]


def pin(engine: Engine, stack_key: str = OLD.key) -> None:
    with writing(engine) as session:
        pin_baseline(session, BaselinePin(stack_key=stack_key, why="release"), who="ann", now=NOW)


def test_a_withdrawn_run_is_kept_and_shown_with_who_when_and_why(engine: Engine) -> None:
    run_id = run_id_of(bring(engine, import_order()))

    withdraw(engine, run_id)

    with reading(engine) as session:
        detail = read_run(session, run_id)
        page = list_runs(session, RunFilter(), limit=5, cursor=None)
    assert detail.withdrawal is not None
    assert (detail.withdrawal.withdrawn_by, detail.withdrawal.reason) == ("ann", "wrong driver")
    assert detail.withdrawal.withdrawn_at == NOW
    assert detail.values["ttft_p50"] == (0.02,)
    assert [run.withdrawn for run in page.runs] == [True]


def test_history_tells_every_act_with_what_was_before_and_after(engine: Engine) -> None:
    run_id = run_id_of(bring(engine, import_order()))

    withdraw(engine, run_id)
    restore(engine, run_id)
    withdraw(engine, run_id, "a stranger on the cards")

    with reading(engine) as session:
        acts = read_history(session, run_id)
        page = read_run(session, run_id)
    assert acts[0].act is Act.IMPORT
    assert [act.act for act in acts[1:]] == [Act.WITHDRAW, Act.RESTORE, Act.WITHDRAW]
    assert {act.actor for act in acts} == {"ann", "bob"}
    assert all((act.before, act.after) != (None, None) for act in acts[1:])
    assert page.withdrawal is not None
    assert page.withdrawal.reason == "a stranger on the cards"


def test_comparing_a_withdrawn_run_is_refused_with_its_reason(engine: Engine) -> None:
    read = bring(engine, import_order([result(1), result(2)]))
    withdraw(engine, run_id_of(read))

    with reading(engine) as session:
        answer = compare_stored(
            session,
            baseline=str(run_id_of(read, 1)),
            candidate=str(run_id_of(read)),
            policy=Policy(min_repeats=1),
        )
    assert answer.outcome is Outcome.INVALID
    assert "wrong driver" in answer.cells[0].comparison.verdicts[0].reason
    assert "withdrawn by ann" in answer.cells[0].comparison.verdicts[0].reason


def test_a_withdrawn_run_of_a_session_leaves_its_verdict_to_the_others(engine: Engine) -> None:
    session_id = path.do_session(engine, builders.session_order(), scales={NEW.name: 1.5})
    withdraw(engine, run_ids(engine, NEW.key)[0])

    with reading(engine) as session:
        verdicts = judge_session(session, session_id, baseline=None)
    warned = [warning for cell in verdicts.cells for warning in cell.comparison.warnings]
    assert verdicts.outcome is Outcome.REGRESSED
    assert sum("1 of 2 runs not judged" in warning for warning in warned) == 1


def test_a_broken_run_that_is_withdrawn_breaks_no_verdict(engine: Engine) -> None:
    session_id = path.do_session(engine, builders.session_order())
    for run_id in run_ids(engine, NEW.key):
        withdraw(engine, run_id)

    with reading(engine) as session:
        verdicts = judge_session(session, session_id, baseline=None)
    assert verdicts.outcome is Outcome.INVALID


def test_nothing_is_pinned_on_withdrawn_runs_alone(engine: Engine) -> None:
    withdraw(engine, run_id_of(bring(engine, import_order(stack=NEW))))

    with pytest.raises(NothingToPinError):
        pin(engine, NEW.key)


def test_a_baseline_says_how_many_of_its_runs_were_withdrawn(engine: Engine) -> None:
    path.do_session(engine, builders.session_order())
    pin(engine)
    for run_id in run_ids(engine, OLD.key)[:1]:
        withdraw(engine, run_id)

    with reading(engine) as session:
        pins = list_baselines(session, channel=None, history=False)
    assert sorted((each.runs, each.withdrawn_runs) for each in pins) == [(1, 1), (2, 0)]


def test_a_pin_is_audited_with_the_one_it_replaces(engine: Engine) -> None:
    path.do_session(engine, builders.session_order(conditions=[builders.condition()]))
    pin(engine)
    pin(engine, NEW.key)

    with reading(engine) as session:
        (now,) = list_baselines(session, channel=None, history=False)
        (entry,) = audits.of_thing(session, Noun.BASELINE, str(now.id))
    assert entry.before is not None
    assert entry.after is not None
    assert (entry.before["stack_key"], entry.after["stack_key"]) == (OLD.key, NEW.key)
    assert (entry.actor, entry.reason) == ("ann", "release")


def test_the_same_withdrawal_asked_for_again_changes_nothing(engine: Engine) -> None:
    run_id = run_id_of(bring(engine, import_order()))

    answers = at_once([partial(withdraw, engine, run_id)] * 8)

    with reading(engine) as session:
        acts = read_history(session, run_id)
    assert {answer.reason for answer in answers} == {"wrong driver"}
    assert [act.act for act in acts] == [Act.IMPORT, Act.WITHDRAW]


def test_another_reason_for_a_withdrawn_run_is_refused(engine: Engine) -> None:
    run_id = run_id_of(bring(engine, import_order()))
    withdraw(engine, run_id)

    with pytest.raises(AlreadyWithdrawnError, match="wrong driver"):
        withdraw(engine, run_id, "something else")


def test_a_restored_run_counts_again_and_may_be_restored_twice(engine: Engine) -> None:
    run_id = run_id_of(bring(engine, import_order()))
    withdraw(engine, run_id)
    first = restore(engine, run_id)
    again = restore(engine, run_id)

    with reading(engine) as session:
        assert read_run(session, run_id).withdrawal is None
    assert again == first
    with pytest.raises(NotWithdrawnError):
        restore(engine, run_id, "for another reason")


def test_a_run_that_nobody_withdrew_cannot_be_restored(engine: Engine) -> None:
    run_id = run_id_of(bring(engine, import_order()))

    with pytest.raises(NotWithdrawnError):
        restore(engine, run_id)


def test_a_corrected_result_cannot_be_restored_beside_its_correction(engine: Engine) -> None:
    bare = result(1).model_copy(update={"resolution": {}})
    wrong = bring(engine, import_order([bare], stack=NEW))
    bring(engine, import_order([bare], stack=OLD, correct="it was the old one"))

    with pytest.raises(ReplacedRunError):
        restore(engine, run_id_of(wrong))


def test_what_stands_in_its_place_is_another_run_that_counts(engine: Engine) -> None:
    read = bring(engine, import_order([result(1), result(2), result(3)]))
    first, second, third = (run_id_of(read, number) for number in range(3))
    withdraw(engine, third)
    done = withdraw(engine, first, replaced_by=second)

    assert done.replaced_by == second
    with pytest.raises(ReplacementError, match="itself"):
        withdraw(engine, second, replaced_by=second)
    with pytest.raises(ReplacementError, match="withdrawn"):
        withdraw(engine, second, replaced_by=third)


def test_an_unknown_run_is_not_withdrawn(engine: Engine) -> None:
    with pytest.raises(UnknownRunError):
        withdraw(engine, uuid4())
    with reading(engine) as session, pytest.raises(UnknownRunError):
        read_history(session, uuid4())
    with reading(engine) as session:
        assert session.query(AuditRow).count() == 0
