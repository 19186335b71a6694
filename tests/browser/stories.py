"""Stories beside the scene: a history with a change in it, and a gate that found something."""

from collections import defaultdict
from datetime import UTC, datetime
from uuid import UUID, uuid4

from sqlalchemy import Engine

from service.domain.attribution import Attribution, Cause, Level, Part, State, Step
from service.domain.cell import Cell
from service.domain.incident import Direction, Incident, IncidentCell
from service.domain.layer import Layer
from service.domain.verdict import Outcome
from service.formats.attributions import (
    AttributionAnswer,
    AttributionReport,
    ComboRead,
    StepRead,
)
from service.formats.comparisons import SessionVerdicts
from service.formats.reports import Broken
from service.formats.schedules import ScheduleOrder
from service.store import incidents, runs, schema
from service.store.database import writing
from service.usecases.judge_session import judge_session
from service.usecases.keep_attribution import keep_attribution
from service.usecases.keep_schedule import set_schedule
from tests.browser.scene import Scene
from tests.integration import builders, gating, path
from tests.integration.builders import NEW, OLD
from tests.integration.nights import CELLS, do_nights, order_of, stack_of
from tests.integration.pages import dated, pin

NIGHTS = 14
# From this night on every cell is slower by so much.
SINCE, SLOWER = 9, 1.12
GATED_SLOWER = 1.3
# Each step is within the tolerance of the time per token, and their sum is not.
CREEPING = (1.0, 1.02, 1.04)
WRONG = builders.stack("0.5.20")
FINDING = Broken(layer=Layer.SERVER, finding="ImportError: transformers.AutoProcessor")
# The session of the scene whose candidate is slower than the stack before it.
SLOWER_SESSION = 2


def play_nights(engine: Engine) -> None:
    """Measure two weeks of nights with a change in them, and keep a schedule."""
    schema.upgrade(engine)
    do_nights(engine, range(NIGHTS), slower=lambda night, _: SLOWER if night >= SINCE else 1.0)
    order = ScheduleOrder(
        at="02:00",
        zone="Asia/Shanghai",
        order=builders.session_order(baseline=None),
        why="nightly",
    )
    with writing(engine) as session:
        set_schedule(session, "every-cell", order, who="li", now=datetime.now(UTC))


def play_gate(engine: Engine) -> None:
    """Measure two stacks, pin one, gate the other, which is slower, and break a third."""
    schema.upgrade(engine)
    path.do_session(engine, dated(builders.session_order(arms=(OLD, NEW) * 2)))
    pin(engine, OLD)
    path.submit(engine, builders.session_order(arms=(WRONG,), baseline=None), "broken")
    job = path.claimed(engine)
    path.tell_launch(engine, builders.launch_report(job, launch_id=job.job_id, broken=FINDING))
    path.finish(engine, job)
    gating.ask(engine, gating.gate_order(), "gate")
    gating.measure(
        engine, lambda stack, _, turn: GATED_SLOWER if stack == NEW.name else 1 + turn / 1000
    )


def play_creep(engine: Engine) -> None:
    """Measure three nightly stacks of one cell, each a little slower than the one before."""
    for night, scale in enumerate(CREEPING):
        stack = stack_of(night)
        order = order_of(night, conditions=CELLS[:1], arms=(stack,) * 4)
        path.do_session(
            engine,
            order.model_copy(update={"baseline_stack_key": None}),
            f"creep {night}",
            scales={stack.name: scale},
        )
        if night == 0:
            pin(engine, stack)


def deviate(engine: Engine, scene: Scene) -> UUID:
    """Open the incident that a confirmed deviation of the slower stack is, and return its id."""
    session_id, now = scene.sessions[SLOWER_SESSION], datetime.now(UTC)
    good, bad = scene.stacks[SLOWER_SESSION : SLOWER_SESSION + 2]
    with writing(engine) as session:
        verdicts = judge_session(session, session_id, baseline=None, channel="main")
        measured = defaultdict[Cell, list[UUID]](list)
        for run in runs.of_session(session, session_id, limit=1000):
            measured[run.cell].append(run.id)
        incident = Incident(
            id=uuid4(),
            title=f"ttft_p50 worse since {bad.name}",
            direction=Direction.WORSE,
            baseline_stack_key=good.key,
            candidate_stack_key=bad.key,
            opened_at=now,
            opened_by="kunline",
            seen_at=now,
        )
        incidents.keep(session, incident, _regressed(verdicts, measured))
    return incident.id


def attribute(engine: Engine, scene: Scene, incident: UUID) -> None:
    """Keep what a search for the cause of that incident came to: it was torch, by itself."""
    good, bad = scene.stacks[SLOWER_SESSION : SLOWER_SESSION + 2]
    parts = [Part(name, good.versions[name], bad.versions[name]) for name in ("sglang", "torch")]
    torch = Step((parts[1],))
    sought = AttributionAnswer(
        plan="nightly-3",
        good=good.name,
        bad=bad.name,
        outcome=Outcome.REGRESSED,
        steps=tuple(StepRead.of(Step((part,))) for part in parts),
        most_combos=1,
        followed=None,
        combos=(
            ComboRead(
                at_bad=("torch",),
                candidates=("sglang", "torch"),
                stack_key=bad.key,
                stack_name=f"{good.name}+torch",
                level=Level.BAD,
                verdict=None,
                broken=None,
                session_id=scene.sessions[SLOWER_SESSION],
                cached=False,
            ),
        ),
    )
    told = AttributionReport(
        incident_id=incident,
        good_stack_key=good.key,
        bad_stack_key=bad.key,
        state=State.ENDED,
        budget_card_s=3600.0,
        launches=4,
        card_s=1260.0,
        answer=sought.ended(Attribution(Cause.SINGLE, (torch,))),
    )
    with writing(engine) as session:
        keep_attribution(session, uuid4(), told, who="Chen Wei", now=datetime.now(UTC))


def _regressed(verdicts: SessionVerdicts, measured: dict[Cell, list[UUID]]) -> list[IncidentCell]:
    return [
        IncidentCell(
            cell=(cell := Cell(found.condition_key, found.protocol_key)),
            metric=verdict.metric,
            change=verdict.worsening or 0.0,
            low=verdict.low,
            high=verdict.high,
            session_id=verdicts.session_id,
            run_ids=tuple(measured[cell]),
        )
        for found in verdicts.cells
        for verdict in found.comparison.verdicts
        if verdict.outcome is Outcome.REGRESSED
    ]
