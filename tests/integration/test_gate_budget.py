"""What a gate's budget of card time pays for: launches, the lost ones too, and nothing beyond."""

from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import Engine

from service.domain.ci_gate import Stop
from service.domain.condition import Condition
from service.domain.job import launch_id
from service.domain.verdict import Outcome
from service.formats.ci_gates import GateRules
from service.formats.orders import Renewal
from service.store.database import writing
from service.usecases.cancel_session import cancel_session
from service.usecases.renew_lease import renew_lease
from service.usecases.sweep import sweep
from tests.integration import builders, gating, path
from tests.integration.builders import NOW


def unsure(_stack: str, _: Condition, turn: int) -> float:
    """Scale launches so that they scatter far more than the tolerance."""
    return (1.4, 0.7, 1.0, 1.3, 0.8)[turn % 5]


def test_a_budget_that_is_spent_leaves_what_is_not_certain_inconclusive(engine: Engine) -> None:
    rules = GateRules(looks=(2, 4), budget_card_s=4 * gating.LAUNCH_S)
    gate_id = gating.ask(engine, gating.gate_order(rules=rules))

    launches = gating.measure(engine, unsure)

    found = gating.read(engine, gate_id).answer
    assert launches == 4
    assert (found.outcome, found.exit_code) == (Outcome.INCONCLUSIVE, 4)
    assert {cell.stopped.word for cell in found.cells if cell.stopped} == {Stop.BUDGET}
    assert found.cells[0].verdicts[0].verdict.smallest_detectable is not None


def test_a_budget_counts_a_lost_launch_and_says_what_would_do(engine: Engine) -> None:
    rules = GateRules(looks=(2, 4), budget_card_s=110)
    gate_id = gating.ask(engine, gating.gate_order(rules=rules))
    job = path.claimed(engine)
    path.tell_launch(engine, builders.launch_report(job, launch_id=UUID(int=77)))
    lose(engine, NOW + timedelta(seconds=46))

    launches = gating.measure(engine, unsure)

    found = gating.read(engine, gate_id).answer
    # The lease ended after 45 seconds; with the launch that took its place the budget is spent.
    assert (launches, found.time.spent_card_s) == (1, 45 + gating.LAUNCH_S)
    assert {cell.stopped.word for cell in found.cells if cell.stopped} == {Stop.BUDGET}
    assert (found.time.saved_card_s, found.time.unbegun_card_s) == (0, 7 * gating.LAUNCH_S)
    assert any("before a control was there" in note for note in found.notes)
    assert any(
        "--budget 3m would have measured both stacks once, and --budget 9m would do" in note
        for note in found.notes
    )
    assert found.time.unreported_card_s == 0


def test_a_runner_that_dies_while_its_server_starts_again_and_again_spends_the_budget(
    engine: Engine,
) -> None:
    rules = GateRules(looks=(2, 4), budget_card_s=140)
    gate_id = gating.ask(engine, gating.gate_order(rules=rules))
    job = path.claimed(engine)
    lose(engine, NOW + timedelta(seconds=46))
    path.claimed(engine, now=NOW + timedelta(seconds=60))
    lose(engine, NOW + timedelta(seconds=106))

    found = gating.read(engine, gate_id).answer
    assert path.claim(engine, now=NOW + timedelta(seconds=120)) is None
    # Each held the card from its claim to the end of its lease, 45 seconds later.
    assert (found.state, found.exit_code) == ("finished", 5)
    assert (found.time.spent_card_s, found.time.unreported_card_s) == (90, 90)
    assert {cell.stopped.word for cell in found.cells if cell.stopped} == {Stop.BUDGET}
    assert found.notes[0].startswith("2 launches ended before the runner told anything of them")
    assert "--budget 4m would have measured both stacks once" in found.notes[1]

    # What the first of them still tells takes the place of what was assumed of it.
    late = builders.launch_report(job, launch_id=launch_id(job.job_id, job.fencing_token))
    path.tell_launch(engine, late.model_copy(update={"stopped_at": NOW + timedelta(seconds=20)}))
    told = gating.read(engine, gate_id).answer.time
    assert (told.spent_card_s, told.unreported_card_s) == (65, 45)


def test_a_launch_that_is_cancelled_before_its_server_is_up_costs_what_it_held(
    engine: Engine,
) -> None:
    gate_id = gating.ask(engine, gating.gate_order())
    job = path.claimed(engine)
    with writing(engine) as session:
        cancel_session(session, gating.read(engine, gate_id).session.id, now=NOW)
        renewal = Renewal(fencing_token=job.fencing_token)
        later = NOW + timedelta(seconds=30)
        renew_lease(session, job.job_id, renewal, leasing=path.LEASING, now=later)

    assert gating.read(engine, gate_id).answer.time.spent_card_s == 30


def lose(engine: Engine, now: datetime) -> None:
    """Let the service see that whoever holds a job is not heard of any more."""
    with writing(engine) as session:
        sweep(session, leasing=path.LEASING, resend_after=timedelta(hours=1), now=now)
