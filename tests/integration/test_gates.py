"""A gate: what it says of a candidate, when it stops, and what it does not count."""

from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import Engine, insert

from service.domain.ci_gate import Counts, Stop
from service.domain.condition import Condition
from service.domain.layer import Layer
from service.domain.verdict import Outcome
from service.domain.waiver import WaiverTimeError
from service.formats.ci_gates import GateRules
from service.formats.gate_answers import GateAnswer
from service.formats.reports import Broken
from service.formats.waivers import WaiverOrder, WaiverRevocation
from service.store.database import reading, writing
from service.store.tables import IncidentCellRow, IncidentRow
from service.usecases.cancel_session import cancel_session
from service.usecases.submit_session import KeyReusedError
from service.usecases.waive import list_waivers, revoke_waiver, waive
from tests.integration import builders, gating, path
from tests.integration.builders import NEW, NOW, OLD
from tests.integration.gating import CELLS


def slower(by: float, *conditions: Condition) -> gating.Scale:
    """Scale the candidate's values in some cells, or in all where none is named."""
    return lambda stack, condition, _: (
        by if stack == NEW.name and condition in (conditions or CELLS) else 1.0
    )


def unsure(stack: str, _: Condition, turn: int) -> float:
    """Scale launches so that they scatter far more than the tolerance."""
    return (1.4, 0.7, 1.0, 1.3, 0.8)[turn % 5]


def answer(engine: Engine, gate_id: UUID) -> GateAnswer:
    return gating.read(engine, gate_id).answer


def test_an_equal_candidate_passes_after_the_first_look(engine: Engine) -> None:
    gate_id = gating.ask(engine, gating.gate_order())

    launches = gating.measure(engine)

    found = answer(engine, gate_id)
    assert (found.state, found.outcome, found.exit_code) == ("finished", Outcome.UNCHANGED, 0)
    assert launches == 4
    assert {cell.stopped.word for cell in found.cells if cell.stopped} == {Stop.CERTAIN}
    assert found.time.spent_card_s == 4 * gating.LAUNCH_S
    assert found.time.saved_card_s == 4 * gating.LAUNCH_S
    assert found.cells[0].canary
    assert found.cells[0].control.kind == "interleaved"


def test_a_slower_candidate_is_regressed_with_cells_and_interval(engine: Engine) -> None:
    gate_id = gating.ask(engine, gating.gate_order())

    gating.measure(engine, slower(1.3))

    found = answer(engine, gate_id)
    assert (found.outcome, found.exit_code) == (Outcome.REGRESSED, 3)
    verdict = found.cells[1].verdicts[0].verdict
    assert verdict.worsening == pytest.approx(0.3)
    assert verdict.low is not None
    assert verdict.low > 0


def test_a_regressed_canary_ends_the_other_cells_before_they_are_begun(engine: Engine) -> None:
    gate_id = gating.ask(engine, gating.gate_order(apart=True))

    launches = gating.measure(engine, slower(1.3, CELLS[0]))

    found = answer(engine, gate_id)
    assert launches == 4
    assert found.exit_code == 3
    assert [cell.stopped and cell.stopped.word for cell in found.cells] == [
        Stop.CERTAIN,
        Stop.CANARY,
    ]
    assert found.cells[1].outcome is Outcome.MISSING


def test_without_fail_fast_all_cells_are_measured_to_their_end(engine: Engine) -> None:
    rules = GateRules(looks=(2, 4), fail_fast=False)
    gate_id = gating.ask(engine, gating.gate_order(apart=True, rules=rules))

    gating.measure(engine, slower(1.3, CELLS[0]))

    assert [cell.outcome for cell in answer(engine, gate_id).cells] == [
        Outcome.REGRESSED,
        Outcome.UNCHANGED,
    ]


def test_a_cell_that_is_certain_is_left_out_of_the_launches_of_the_others(engine: Engine) -> None:
    gate_id = gating.ask(engine, gating.gate_order())

    launches = gating.measure(
        engine,
        lambda stack, condition, turn: (
            unsure(stack, condition, turn) if condition == CELLS[1] else 1.0
        ),
    )

    found = answer(engine, gate_id)
    assert launches == 8
    assert [cell.candidate_launches for cell in found.cells] == [2, 4]
    assert (found.outcome, found.exit_code) == (Outcome.INCONCLUSIVE, 4)


def test_a_candidate_that_breaks_ends_the_gate_with_its_first_launch(engine: Engine) -> None:
    gate_id = gating.ask(engine, gating.gate_order(apart=True))
    job = path.claimed(engine)
    broken = Broken(layer=Layer.COLLECTIVES, finding="no XCCL", remedy="install it")
    path.tell_launch(engine, builders.launch_report(job, broken=broken))
    path.finish(engine, job)

    assert path.claim(engine) is None
    found = answer(engine, gate_id)
    assert (found.state, found.outcome, found.exit_code) == ("finished", Outcome.BROKEN, 5)
    assert found.cells[0].broken is not None
    assert (found.cells[0].broken.side, found.cells[0].broken.layer) == (
        "candidate",
        Layer.COLLECTIVES,
    )
    assert found.cells[1].outcome is Outcome.MISSING


def test_inconclusive_passes_only_where_the_plan_says_so_and_keeps_its_word(engine: Engine) -> None:
    rules = GateRules(looks=(2, 4), inconclusive_blocks=False)
    gate_id = gating.ask(engine, gating.gate_order(rules=rules))

    gating.measure(engine, unsure)

    found = answer(engine, gate_id)
    assert (found.outcome, found.exit_code) == (Outcome.INCONCLUSIVE, 0)


def test_a_cell_that_informs_is_shown_and_not_counted(engine: Engine) -> None:
    gate_id = gating.ask(engine, gating.gate_order(informs=[CELLS[1]]))

    gating.measure(engine, slower(1.3, CELLS[1]))

    found = answer(engine, gate_id)
    assert found.exit_code == 0
    assert (found.cells[1].outcome, found.cells[1].counted) == (Outcome.REGRESSED, None)
    assert {each.counts for each in found.cells[1].verdicts} == {Counts.INFORMS}


def test_a_metric_that_informs_is_shown_and_not_counted(engine: Engine) -> None:
    rules = GateRules(looks=(2, 4), informing=("ttft_p50", "tpot_p50", "output_throughput"))
    gate_id = gating.ask(engine, gating.gate_order(rules=rules))

    gating.measure(engine, slower(1.3))

    found = answer(engine, gate_id)
    assert (found.outcome, found.exit_code) == (Outcome.INCONCLUSIVE, 4)
    assert "nothing was counted" in found.notes[-1]


def test_a_waived_metric_is_shown_with_who_waived_it_and_does_not_count(engine: Engine) -> None:
    gate_id = gating.ask(engine, gating.gate_order())
    gating.measure(engine, slower(1.3, CELLS[0]))

    waive_in(engine, condition_key=CELLS[0].key)

    found = answer(engine, gate_id)
    assert found.exit_code == 0
    assert {each.counts for each in found.cells[0].verdicts} == {Counts.WAIVED}
    waiver = found.cells[0].verdicts[0].waiver
    assert waiver is not None
    assert (waiver.who, waiver.reason) == ("grace", "known for a week")


def test_a_waiver_that_was_taken_back_counts_no_more(engine: Engine) -> None:
    gate_id = gating.ask(engine, gating.gate_order())
    gating.measure(engine, slower(1.3))
    waiver_id = waive_in(engine)

    with writing(engine) as session:
        revoke_waiver(session, waiver_id, WaiverRevocation(why="fixed"), who="grace", now=NOW)

    assert answer(engine, gate_id).exit_code == 3
    with reading(engine) as session:
        assert [each.in_force for each in list_waivers(session, now=NOW)] == [False]


@pytest.mark.parametrize("days", [pytest.param(-1, id="past"), pytest.param(91, id="too long")])
def test_a_waiver_ends_soon_or_is_refused(engine: Engine, days: int) -> None:
    with pytest.raises(WaiverTimeError):
        waive_in(engine, until=NOW + timedelta(days=days))


def test_a_waiver_never_hides_that_a_candidate_broke(engine: Engine) -> None:
    waive_in(engine, until=NOW + timedelta(days=30))
    gate_id = gating.ask(engine, gating.gate_order())
    job = path.claimed(engine)
    broken = Broken(layer=Layer.SERVER, finding="it died")
    path.tell_launch(engine, builders.launch_report(job, broken=broken))
    path.finish(engine, job)

    assert answer(engine, gate_id).exit_code == 5


def test_a_cancelled_gate_answers_with_what_it_has(engine: Engine) -> None:
    gate_id = gating.ask(engine, gating.gate_order())
    with writing(engine) as session:
        cancel_session(session, gating.read(engine, gate_id).session.id, now=NOW)

    found = answer(engine, gate_id)
    assert (found.state, found.outcome, found.exit_code) == ("cancelled", Outcome.MISSING, 5)
    assert found.cells[0].stopped is not None
    assert found.cells[0].stopped.word is Stop.CANCELLED
    assert (found.time.saved_card_s, found.time.unbegun_card_s) == (0, 8 * gating.LAUNCH_S)


def test_the_same_key_is_the_same_gate_and_another_order_is_refused(engine: Engine) -> None:
    order = gating.gate_order()

    assert gating.ask(engine, order, "k") == gating.ask(engine, order, "k")
    with pytest.raises(KeyReusedError):
        gating.ask(engine, gating.gate_order(rounds=3), "k")


@pytest.mark.parametrize(
    ("changed", "code", "counts"),
    [
        pytest.param({}, 0, Counts.KNOWN, id="open"),
        pytest.param({"triage": "fix"}, 0, Counts.KNOWN, id="to be fixed"),
        pytest.param({"triage": "noise"}, 3, Counts.COUNTED, id="noise"),
        pytest.param({"verified_at": NOW}, 3, Counts.COUNTED, id="seen to be over"),
        pytest.param({"direction": "better"}, 3, Counts.COUNTED, id="for the better"),
    ],
)
def test_a_candidate_is_not_blamed_for_what_its_base_is_known_to_have(
    engine: Engine, changed: dict[str, object], code: int, counts: Counts
) -> None:
    gate_id = gating.ask(engine, gating.gate_order())
    open_incident(engine, **changed)

    gating.measure(engine, slower(1.3, CELLS[0]))

    found = answer(engine, gate_id)
    assert found.exit_code == code
    assert {each.counts for each in found.cells[0].verdicts} == {counts}
    assert (found.cells[0].incident is not None) == (counts is Counts.KNOWN)


def open_incident(engine: Engine, **changed: object) -> None:
    incident_id = UUID(int=7)
    row = {
        "id": incident_id,
        "title": "TPOT up since the last release",
        "direction": "worse",
        "baseline_stack_key": OLD.key,
        "candidate_stack_key": NEW.key,
        "opened_at": NOW,
        "opened_by": "ada",
        "seen_at": NOW,
        "triage": "open",
        "comment": "",
        "links": [],
    }
    cell = {
        "incident_id": incident_id,
        "condition_key": CELLS[0].key,
        "protocol_key": builders.PROTOCOL.key,
        "metric": "tpot_p50",
        "change": 0.3,
        "run_ids": [],
    }
    with writing(engine) as session:
        session.execute(insert(IncidentRow).values({**row, **changed}))
        session.execute(insert(IncidentCellRow).values(cell))


CACHING = GateRules(looks=(2, 4), cached_control_s=3600)


def measure_controls(engine: Engine, sessions: int) -> None:
    """Measure the base alone in some sessions, two launches each."""
    for number in range(sessions):
        order = builders.session_order(arms=(OLD, OLD), conditions=CELLS, baseline=None)
        path.do_session(engine, order, f"control {number}")


def test_controls_of_earlier_sessions_let_an_equal_candidate_pass_with_one_of_its_own(
    engine: Engine,
) -> None:
    measure_controls(engine, sessions=2)
    gate_id = gating.ask(engine, gating.gate_order(rules=CACHING, in_turn=False))

    launches = gating.measure(engine)

    found = answer(engine, gate_id)
    assert (launches, found.exit_code) == (3, 0)
    control = found.cells[0].control
    assert (control.kind, control.launches, control.sessions) == ("cached", 5, 3)
    assert "not interleaved: measured at another time" in found.cells[0].warnings


def test_nobody_is_blamed_by_controls_of_earlier_sessions(engine: Engine) -> None:
    measure_controls(engine, sessions=2)
    gate_id = gating.ask(engine, gating.gate_order(rules=CACHING, in_turn=False))

    launches = gating.measure(engine, slower(1.3))

    found = answer(engine, gate_id)
    assert (launches, found.exit_code) == (4, 3)
    assert {cell.control.kind for cell in found.cells} == {"interleaved"}


@pytest.mark.parametrize(
    ("sessions", "rules"),
    [
        pytest.param(1, CACHING, id="one session does not tell how days differ"),
        pytest.param(2, GateRules(looks=(2, 4)), id="the plan does not allow it"),
    ],
)
def test_controls_are_measured_anew_where_the_rule_asks_for_it(
    engine: Engine, sessions: int, rules: GateRules
) -> None:
    measure_controls(engine, sessions)
    gate_id = gating.ask(engine, gating.gate_order(rules=rules, in_turn=False))

    assert gating.measure(engine) > 3
    assert answer(engine, gate_id).cells[0].control.kind == "interleaved"


def waive_in(engine: Engine, *, condition_key: str | None = None, until: object = None) -> UUID:
    order = WaiverOrder.model_validate(
        {
            "plan": "pr",
            "condition_key": condition_key,
            "until": until or NOW + timedelta(days=2),
            "why": "known for a week",
        }
    )
    with writing(engine) as session:
        return waive(session, order, who="grace", now=NOW).id
