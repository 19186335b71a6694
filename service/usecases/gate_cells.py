"""The cells of a gate as far as they are measured: both arms of each, and its verdicts by now."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from uuid import UUID

from pydantic import ConfigDict

from service.domain.cell import Cell
from service.domain.ci_gate import Looks, Standing, Stop
from service.domain.comparison import Obstacle
from service.domain.job import ENDED, JobState
from service.domain.policy import Policy
from service.domain.verdict import Outcome
from service.formats.ci_gates import GateCellOrder, GateRules
from service.formats.comparisons import CellComparison
from service.formats.gate_answers import GateBase, GateCandidate, GateStop
from service.formats.messages import Message
from service.store import ci_gates, jobs, runs, sessions
from service.store.ci_gates import StoredGate
from service.store.database import ReadSession
from service.store.jobs import StoredJob
from service.store.launches import Lived
from service.store.runs import StoredRun
from service.store.sessions import StoredSession
from service.usecases.history import expected_of_pairs
from service.usecases.judge_session import policy_of
from service.usecases.session_content import SessionContent, asked_of
from service.usecases.sides import Arm, NamedStack, Pair, compared, load

# What stops a cell because what is said of it is known.
ANSWERED = frozenset({Stop.CERTAIN, Stop.CANARY})
# As many runs of a gate's session as are looked at.
RUNS = 20_000


class GateContent(Message):
    """A gate's order without its session; what a later Kunline adds to it is passed over.

    planned_card_s: of each launch, in card-seconds.
    """

    model_config = ConfigDict(extra="ignore")

    base: GateBase
    candidate: GateCandidate
    cells: tuple[GateCellOrder, ...]
    planned_card_s: tuple[float, ...]
    rules: GateRules
    mode: str
    reproduce: tuple[str, ...]
    notes: tuple[str, ...]


class StoppedCell(Message):
    """A cell that was stopped, why, and the rounds it is judged by; None for all it has.

    cached: its verdict rests on controls of earlier sessions too.
    """

    model_config = ConfigDict(extra="ignore")

    condition_key: str
    protocol_key: str
    rounds: int | None
    stop: GateStop
    cached: bool = False

    @property
    def cell(self) -> Cell:
        """The cell."""
        return Cell(self.condition_key, self.protocol_key)


# By cell, the base's launches of earlier sessions, each with its runs.
Cached = Mapping[Cell, Sequence[Sequence[StoredRun]]]
NOTHING_CACHED: Cached = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Gated:
    """One cell of a gate with the runs of both arms, one inner sequence a launch, in order.

    asked: the jobs that are to bring the candidate's runs.
    """

    order: GateCellOrder
    baseline: Sequence[Sequence[StoredRun]]
    candidate: Sequence[Sequence[StoredRun]]
    asked: Sequence[StoredJob]

    @property
    def cell(self) -> Cell:
        """The cell."""
        return Cell(self.order.condition_key, self.order.protocol_key)

    @property
    def gates(self) -> bool:
        """Whether the plan counts it."""
        return self.order.standing is Standing.GATES

    @property
    def measured(self) -> int:
        """How many rounds both arms have."""
        return min(len(self.baseline), len(self.candidate))

    @property
    def broken(self) -> tuple[str, StoredRun] | None:
        """The first run that broke and its side, the candidate's before the baseline's."""
        for side, launches in (("candidate", self.candidate), ("baseline", self.baseline)):
            for run in (run for launch in launches for run in launch):
                if run.state == "broken" and run.withdrawal is None:
                    return side, run
        return None


@dataclass(frozen=True, slots=True)
class GateState:
    """A gate with its session, its cells and what was stopped so far."""

    stored: StoredGate
    content: GateContent
    session: StoredSession
    asked: SessionContent
    jobs: Sequence[StoredJob]
    cells: Sequence[Gated]
    stops: Mapping[Cell, StoppedCell]

    @property
    def looks(self) -> Looks:
        """After how many rounds verdicts are looked at."""
        return Looks(self.content.rules.looks)

    @property
    def is_over(self) -> bool:
        """Whether none of its launches is left to do."""
        return all(job.state in ENDED for job in self.jobs)


def read_state(session: ReadSession, stored: StoredGate) -> GateState:
    """Return where a gate stands. Raises UnknownSessionError."""
    found = sessions.read(session, stored.session_id)
    content = GateContent.model_validate(stored.content)
    under = jobs.of_session(session, stored.session_id)
    measured = runs.of_session(session, stored.session_id, limit=RUNS)
    stops = [StoppedCell.model_validate(stop) for stop in stored.stops]
    return GateState(
        stored=stored,
        content=content,
        session=found,
        asked=asked_of(found),
        jobs=under,
        cells=[_gated(order, content, under, measured) for order in content.cells],
        stops={stop.cell: stop for stop in stops},
    )


def state_of_session(session: ReadSession, session_id: UUID) -> GateState | None:
    """Return where the gate that ordered a session stands, or None for any other session."""
    stored = ci_gates.of_session(session, session_id)
    return None if stored is None else read_state(session, stored)


def _gated(
    order: GateCellOrder,
    content: GateContent,
    under: Sequence[StoredJob],
    measured: Sequence[StoredRun],
) -> Gated:
    cell = Cell(order.condition_key, order.protocol_key)
    of_job: dict[UUID, list[StoredRun]] = defaultdict(list)
    for run in measured:
        if run.cell == cell and run.job_id is not None:
            of_job[run.job_id].append(run)

    def launches(stack_key: str) -> list[list[StoredRun]]:
        return [of_job[job.id] for job in under if job.stack_key == stack_key and job.id in of_job]

    candidate = content.candidate.stack_key
    return Gated(
        order=order,
        baseline=launches(content.base.stack_key),
        candidate=launches(candidate),
        asked=[job for job in under if job.stack_key == candidate and _asks(job, cell)],
    )


def _asks(job: StoredJob, cell: Cell) -> bool:
    return any(
        (each["condition_key"], each["protocol_key"]) == (cell.condition_key, cell.protocol_key)
        for each in job.launch["cells"]
    )


def judged(
    session: ReadSession,
    state: GateState,
    rounds: Mapping[Cell, int | None],
    cached: Cached = NOTHING_CACHED,
) -> Mapping[Cell, CellComparison]:
    """Return the comparison of some cells after so many rounds; None for all that there are.

    The confidence is that of the look, so that all looks together keep the plan's. cached: more
    controls of some cells.
    """
    wanted = [gated for gated in state.cells if gated.cell in rounds]
    pairs = [
        _pair(state, gated, rounds[gated.cell], cached.get(gated.cell, ())) for gated in wanted
    ]
    stored = load(session, pairs)
    expected = expected_of_pairs(session, pairs)
    return {
        gated.cell: compared(
            pair, stored, policy=_policy(state, gated, rounds[gated.cell]), expected=known
        )
        for gated, pair, known in zip(wanted, pairs, expected, strict=True)
    }


def _policy(state: GateState, gated: Gated, rounds: int | None) -> Policy:
    whole = policy_of(state.asked.policy)
    measured = gated.measured if rounds is None else rounds
    return replace(whole, confidence=state.looks.confidence(measured, whole=whole.confidence))


def _pair(
    state: GateState, gated: Gated, rounds: int | None, cached: Sequence[Sequence[StoredRun]]
) -> Pair:
    base, candidate = state.content.base, state.content.candidate
    return Pair(
        cell=gated.cell,
        baseline_stack=NamedStack(base.stack_key, base.stack_name),
        baseline=Arm(
            [*_first(cached, None), *_first(gated.baseline, rounds)],
            Obstacle(Outcome.INSUFFICIENT_BASELINE, f"{base.stack_name} {_absent(state, gated)}"),
        ),
        candidate_stack=NamedStack(candidate.stack_key, candidate.stack_name),
        candidate=Arm(
            _first(gated.candidate, rounds),
            Obstacle(Outcome.MISSING, f"{candidate.stack_name} {_absent(state, gated)}"),
        ),
        host=state.session.host,
        against="pinned" if cached else "control",
    )


def _first(launches: Sequence[Sequence[StoredRun]], rounds: int | None) -> list[StoredRun]:
    return [run for launch in launches[:rounds] for run in launch]


def _absent(state: GateState, gated: Gated) -> str:
    """Say why an arm has no run."""
    if stop := state.stops.get(gated.cell):
        return f"was not measured: {stop.stop.why}"
    if state.session.state == "cancelled":
        return "was not measured: the gate was cancelled"
    states = ", ".join(dict.fromkeys(str(job.state) for job in gated.asked))
    return f"has no run{f': its jobs are {states}' if states else ''}"


def card_seconds(state: GateState, lived: Iterable[Lived]) -> float:
    """Return the card-seconds that launches of a gate took."""
    cards = {job.id: int(job.launch["cards"]) for job in state.jobs}
    return sum(each.seconds * cards[each.job_id] for each in lived)


def saved_card_seconds(state: GateState) -> float:
    """Return the card-seconds planned for launches that a certain answer made needless."""
    return sum(planned for job, planned in _unbegun(state) if _is_needless(state, job))


def unbegun_card_seconds(state: GateState) -> float:
    """Return the card-seconds planned for launches that were left out for any other reason."""
    return sum(planned for job, planned in _unbegun(state) if not _is_needless(state, job))


def _unbegun(state: GateState) -> Iterator[tuple[StoredJob, float]]:
    for job, planned in zip(state.jobs, state.content.planned_card_s, strict=False):
        if job.state is JobState.CANCELLED and job.host is None:
            yield job, planned


def _is_needless(state: GateState, job: StoredJob) -> bool:
    """Return whether each cell that a launch had left was stopped because its answer was known."""
    stops = [state.stops.get(_cell_of(each)) for each in job.launch["cells"]]
    return all(found is not None and found.stop.word in ANSWERED for found in stops)


def _cell_of(ordered: Mapping[str, str]) -> Cell:
    return Cell(ordered["condition_key"], ordered["protocol_key"])
