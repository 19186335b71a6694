"""Gates for tests: a candidate beside its base, and a runner that measures them as it is told."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from uuid import UUID

from sqlalchemy import Engine

from service.domain.ci_gate import Standing
from service.domain.condition import Condition
from service.formats.ci_gates import GateCellOrder, GateOrder, GateRead, GateRules
from service.formats.gate_answers import GateBase, GateCandidate
from service.formats.orders import JobOrder
from service.store.database import reading, writing
from service.usecases.answer_gate import read_gate
from service.usecases.ask_gate import ask_gate
from tests.integration import builders, path
from tests.integration.builders import NEW, NOW, OLD, PROTOCOL

LAUNCH_S = 60.0
CELLS = (builders.condition(concurrency=1), builders.condition(concurrency=4))
# What a launch is scaled by: values of a cell by its stack's name, its cell and its turn.
Scale = Callable[[str, Condition, int], float]


def gate_order(
    *,
    rounds: int = 4,
    rules: GateRules | None = None,
    conditions: Sequence[Condition] = CELLS,
    informs: Sequence[Condition] = (),
    apart: bool = False,
    in_turn: bool = True,
) -> GateOrder:
    """Build a gate of NEW beside OLD. apart: each cell has launches of its own.

    in_turn: A B B A; else A B A B, as where controls may be cached.
    """
    turned = (OLD, NEW) if in_turn else (NEW, OLD)
    arms = [arm for turn in range(rounds) for arm in (turned if turn % 2 else (NEW, OLD))]
    groups = [[each] for each in conditions] if apart else [list(conditions)]
    session = builders.session_order(arms=arms, conditions=conditions)
    launches = tuple(builders.launch_order(arm, group) for group in groups for arm in arms)
    return GateOrder(
        session=session.model_copy(update={"plan": "pr", "launches": launches}),
        base=GateBase(
            stack_key=OLD.key, stack_name=OLD.name, channel="main", how="tip", found="pinned"
        ),
        candidate=GateCandidate(stack_key=NEW.key, stack_name=NEW.name),
        cells=tuple(
            GateCellOrder(
                condition_key=each.key,
                protocol_key=PROTOCOL.key,
                workload="chat",
                layout="one-card",
                why="what users send",
                standing=Standing.INFORMS if each in informs else Standing.GATES,
                reproduce=("kunline", "gate", "--cell", each.key[:12]),
            )
            for each in conditions
        ),
        expected_s=tuple(LAUNCH_S for _ in launches),
        rules=rules or GateRules(looks=(2, rounds)),
    )


def ask(engine: Engine, order: GateOrder, key: str = "one") -> UUID:
    with writing(engine) as session:
        return ask_gate(session, order, idempotency_key=key, who="ada", now=NOW)


def read(engine: Engine, gate_id: UUID) -> GateRead:
    with reading(engine) as session:
        return read_gate(session, gate_id, now=NOW + timedelta(hours=1))


def measure(engine: Engine, scale: Scale = lambda *_: 1.0) -> int:
    """Do all jobs there are, a minute each, and return how many launches that took."""
    done = 0
    while (job := path.claim(engine)) is not None:
        do_job(engine, job, scale, done)
        done += 1
    return done


def do_job(engine: Engine, job: JobOrder, scale: Scale, turn: int) -> None:
    launch = builders.launch_report(job, launch_id=job.job_id)
    stopped = launch.model_copy(update={"stopped_at": NOW + timedelta(seconds=LAUNCH_S)})
    path.tell_launch(engine, stopped)
    for place, cell in enumerate(job.launch.cells):
        found = scale(job.stack.stack.name, job.condition_of(cell), turn)
        path.report(engine, builders.run_report(job, cell=place, launch_id=job.job_id, scale=found))
    path.finish(engine, job)
