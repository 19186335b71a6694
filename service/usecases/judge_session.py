"""Judge a session: each cell of its candidate stacks against the baseline of the same cell."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from service.domain.cell import Cell
from service.domain.comparison import Obstacle
from service.domain.job import ENDED
from service.domain.policy import Policy
from service.domain.verdict import Outcome, foremost
from service.formats.comparisons import Against, SessionVerdicts
from service.formats.sessions import PolicyOrder
from service.store import baselines, jobs, runs, sessions, stacks
from service.store.database import ReadSession
from service.store.jobs import StoredJob
from service.store.runs import StoredRun
from service.store.sessions import StoredSession
from service.usecases.history import expected_of_pairs
from service.usecases.look_back import Judged, look_back
from service.usecases.session_content import SessionContent, asked_of
from service.usecases.sides import Arm, NamedStack, Pair, compared, load

Thing = TypeVar("Thing")
# Runs of other sessions, by stack and cell.
Elsewhere = Mapping[tuple[str, Cell], Sequence[StoredRun]]

CHANNEL = "main"
# As many runs of a session, and of a baseline on its host, as are looked at.
RUNS = 20_000


@dataclass(frozen=True, slots=True)
class Measured:
    """A session with its jobs and runs, as its verdicts need it.

    runs, asked: the runs, and the jobs that were to bring them, by stack and cell.
    """

    stored: StoredSession
    content: SessionContent
    jobs: Sequence[StoredJob]
    runs: Mapping[tuple[str, Cell], Sequence[StoredRun]]
    asked: Mapping[tuple[str, Cell], Sequence[StoredJob]]

    def runs_of(self, stack_key: str, cell: Cell) -> Sequence[StoredRun]:
        """Return the runs of one stack in one cell, in the order measured."""
        return self.runs.get((stack_key, cell), ())

    def jobs_of(self, stack_key: str, cell: Cell) -> Sequence[StoredJob]:
        """Return the jobs that were to measure one stack in one cell."""
        return self.asked.get((stack_key, cell), ())


def judge_session(
    session: ReadSession,
    session_id: UUID,
    *,
    baseline: str | None,
    channel: str = CHANNEL,
    looking_back: bool = False,
) -> SessionVerdicts:
    """Return the verdicts of a session's candidate stacks, in the order of its plan.

    baseline: the stack to hold them to, by key; None for the one its order names, and where it
    names none, for what is pinned in the channel. A baseline measured in the session itself is
    its control; any other stands on what is stored of it on the session's host. looking_back:
    whether each cell is held to its last accepted stack as well, by which slow creep is seen.
    Raises UnknownSessionError and UnknownStackError.
    """
    measured = _measured(session, session_id)
    named = _named(session, baseline or measured.stored.baseline_stack_key)
    pairs = _pairs(session, measured, named, channel)
    stored = load(session, pairs)
    policy = policy_of(measured.content.policy)
    cells = tuple(
        compared(pair, stored, policy=policy, expected=expected)
        for pair, expected in zip(pairs, expected_of_pairs(session, pairs), strict=True)
    )
    if looking_back:
        cells = look_back(session, [*map(Judged, pairs, cells)], policy=policy)
    return SessionVerdicts(
        session_id=session_id,
        finished=all(job.state in ENDED for job in measured.jobs),
        outcome=foremost(cell.comparison.outcome for cell in cells),
        cells=cells,
    )


def policy_of(order: PolicyOrder) -> Policy:
    """Return the policy a session was ordered with."""
    return Policy(order.tolerances, order.min_repeats, order.confidence)


def _measured(session: ReadSession, session_id: UUID) -> Measured:
    stored = sessions.read(session, session_id)
    under = jobs.of_session(session, session_id)
    found = runs.of_session(session, session_id, limit=RUNS)
    return Measured(
        stored=stored,
        content=asked_of(stored),
        jobs=under,
        runs=_grouped(((run.stack_key, run.cell), run) for run in found),
        asked=_grouped(((job.stack_key, cell), job) for job in under for cell in _cells_of(job)),
    )


def _grouped(
    named: Iterable[tuple[tuple[str, Cell], Thing]],
) -> Mapping[tuple[str, Cell], Sequence[Thing]]:
    """Return things by stack and cell: a session has too many cells to search them for each."""
    found: dict[tuple[str, Cell], list[Thing]] = defaultdict(list)
    for name, thing in named:
        found[name].append(thing)
    return dict(found)


def _named(session: ReadSession, key: str | None) -> NamedStack | None:
    if key is None:
        return None
    stack = stacks.read(session, key).stack
    return NamedStack(stack.key, stack.name)


def _pairs(
    session: ReadSession, measured: Measured, named: NamedStack | None, channel: str
) -> list[Pair]:
    asked = _asked(measured, named)
    against = _baselines(session, asked, named, channel)
    elsewhere = _stored_runs(session, measured, against)
    names = {stack.key: stack.stack.name for stack in measured.content.stacks}
    return [
        _pair(measured, cell, NamedStack(key, names[key]), against.get(cell), elsewhere)
        for key, cell in asked
    ]


def _asked(measured: Measured, named: NamedStack | None) -> list[tuple[str, Cell]]:
    """Return every candidate stack and cell once, in the order of the plan."""
    found = (
        (job.stack_key, cell)
        for job in measured.jobs
        for cell in _cells_of(job)
        if named is None or job.stack_key != named.key
    )
    return list(dict.fromkeys(found))


def _baselines(
    session: ReadSession,
    asked: Sequence[tuple[str, Cell]],
    named: NamedStack | None,
    channel: str,
) -> Mapping[Cell, NamedStack]:
    cells = {cell for _, cell in asked}
    if named is not None:
        return dict.fromkeys(cells, named)
    pins = baselines.in_force(
        session, channel=channel, conditions={cell.condition_key for cell in cells}
    )
    names = stacks.names(session, {found.pin.stack_key for found in pins.values()})
    return {
        cell: NamedStack(found.pin.stack_key, names[found.pin.stack_key])
        for cell, found in pins.items()
    }


def _stored_runs(
    session: ReadSession, measured: Measured, against: Mapping[Cell, NamedStack]
) -> Elsewhere:
    """Return what is stored of each baseline stack on the session's host, from other sessions."""
    host = measured.stored.host
    if host is None:
        return {}
    conditions = {cell.condition_key for cell in against}
    return _grouped(
        ((key, run.cell), run)
        for key in {stack.key for stack in against.values()}
        for run in runs.of_stack(session, key, conditions=conditions, host=host, limit=RUNS)
        if run.session_id != measured.stored.id
    )


def _pair(
    measured: Measured,
    cell: Cell,
    candidate: NamedStack,
    baseline: NamedStack | None,
    elsewhere: Elsewhere,
) -> Pair:
    arm, against = _baseline_arm(measured, cell, candidate, baseline, elsewhere)
    return Pair(
        cell=cell,
        baseline_stack=baseline,
        baseline=arm,
        candidate_stack=candidate,
        candidate=_session_arm(measured, candidate, cell, Outcome.MISSING),
        host=measured.stored.host,
        against=against,
    )


def _baseline_arm(
    measured: Measured,
    cell: Cell,
    candidate: NamedStack,
    baseline: NamedStack | None,
    elsewhere: Elsewhere,
) -> tuple[Arm, Against | None]:
    if baseline is None:
        reason = "no baseline is pinned for this cell"
        return Arm((), Obstacle(Outcome.INSUFFICIENT_BASELINE, reason)), None
    if baseline != candidate and measured.jobs_of(baseline.key, cell):
        word = Outcome.INSUFFICIENT_BASELINE
        return _session_arm(measured, baseline, cell, word), "control"
    reason = f"{baseline.name} has no launch on host {measured.stored.host}"
    absent = Obstacle(Outcome.INSUFFICIENT_BASELINE, reason)
    return Arm(elsewhere.get((baseline.key, cell), ()), absent), "pinned"


def _session_arm(measured: Measured, stack: NamedStack, cell: Cell, absent: Outcome) -> Arm:
    asked = measured.jobs_of(stack.key, cell)
    states = ", ".join(dict.fromkeys(str(job.state) for job in asked))
    over = all(job.state in ENDED for job in asked)
    reason = f"no run: its job is {states}" if over else f"not measured yet: its job is {states}"
    launches_asked = len(asked) if over else None
    found = measured.runs_of(stack.key, cell)
    return Arm(found, Obstacle(absent, reason), launches_asked=launches_asked)


def _cells_of(job: StoredJob) -> list[Cell]:
    return [Cell(cell["condition_key"], cell["protocol_key"]) for cell in job.launch["cells"]]
