"""The two sides of a cell: what is stored of each, and what forbids judging it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from service.domain.answer import Answer, shift
from service.domain.cell import Cell, title
from service.domain.comparison import Comparison, Obstacle, Side, compare
from service.domain.condition import Condition
from service.domain.metric import METRICS, Role
from service.domain.policy import Policy
from service.domain.protocol import Protocol
from service.domain.resolution import Resolution, changed
from service.domain.verdict import Outcome
from service.formats.comparisons import Against, CellComparison
from service.formats.verdicts import ComparisonRead, DifferenceRead
from service.store import conditions, launches, protocols, samples
from service.store.database import ReadSession
from service.store.runs import StoredRun

JUDGED = tuple(metric for metric in METRICS.values() if metric.role is Role.JUDGED)
NOT_INTERLEAVED = "not interleaved: measured at another time"

Values = Mapping[UUID, Mapping[str, Sequence[float]]]


@dataclass(frozen=True, slots=True)
class Arm:
    """The runs of one stack in one cell, in the order measured, and what there should have been.

    launches_asked: how many launches were to measure the cell, or None where nobody asked.
    absent: the word and the sentence for an arm without any run.
    """

    runs: Sequence[StoredRun]
    absent: Obstacle
    launches_asked: int | None = None


@dataclass(frozen=True, slots=True)
class NamedStack:
    """A stack's key, and its name for people."""

    key: str
    name: str


@dataclass(frozen=True, slots=True)
class Pair:
    """A cell with both of its arms, and where the baseline comes from, if there is one."""

    cell: Cell
    baseline_stack: NamedStack | None
    baseline: Arm
    candidate_stack: NamedStack
    candidate: Arm
    host: str | None
    against: Against | None


@dataclass(frozen=True, slots=True)
class Stored:
    """What both arms of many pairs rest on, read once: identities, samples, answers by launch."""

    conditions: Mapping[str, Condition]
    protocols: Mapping[str, Protocol]
    values: Values
    answers: Mapping[UUID, Answer]


def load(session: ReadSession, pairs: Sequence[Pair]) -> Stored:
    """Return the identities, the judged samples and the answers that some pairs need."""
    found = [run for pair in pairs for arm in (pair.baseline, pair.candidate) for run in arm.runs]
    return Stored(
        conditions=conditions.by_key(session, {pair.cell.condition_key for pair in pairs}),
        protocols=protocols.by_key(session, {pair.cell.protocol_key for pair in pairs}),
        values=samples.of_runs(
            session,
            sorted({run.id for run in found}),
            metrics={metric.name for metric in JUDGED},
        ),
        answers=launches.answers(session, {run.launch_id for run in found}),
    )


def compared(pair: Pair, stored: Stored, *, policy: Policy) -> CellComparison:
    """Return the comparison of one cell, by the one rule."""
    comparison = compare(
        _side(pair.baseline, pair.cell, stored),
        _side(pair.candidate, pair.cell, stored),
        policy=policy,
    )
    warnings = (*_warnings(pair, comparison), *_moved(pair, stored))
    return _read(pair, stored, replace(comparison, warnings=warnings))


def _side(arm: Arm, cell: Cell, stored: Stored) -> Side:
    usable = [run for run in arm.runs if _is_usable(run)]
    return Side(
        condition=stored.conditions[cell.condition_key],
        protocol=stored.protocols[cell.protocol_key],
        samples={
            metric.name: repeats
            for metric in JUDGED
            if (repeats := _launches(metric.name, usable, stored.values))
        },
        obstacles=_obstacles(arm, usable),
    )


def _launches(metric: str, usable: Iterable[StoredRun], values: Values) -> list[Sequence[float]]:
    """Return a metric's repeats, one sequence a launch."""
    by_launch: dict[UUID, list[float]] = {}
    for run in usable:
        if sample := values[run.id].get(metric):
            by_launch.setdefault(run.launch_id, []).extend(sample)
    return list(by_launch.values())


def _is_usable(run: StoredRun) -> bool:
    return run.state == "measured" and not run.drift


def _obstacles(arm: Arm, usable: Sequence[StoredRun]) -> tuple[Obstacle, ...]:
    """Say what forbids judging an arm: a stack that broke, or no run that may be judged."""
    if not arm.runs:
        return (arm.absent,)
    broken = [_spoiled(run) for run in arm.runs if run.state == "broken"]
    if broken or not usable:
        return tuple(dict.fromkeys(broken or [_spoiled(run) for run in arm.runs]))
    return ()


def _spoiled(run: StoredRun) -> Obstacle:
    """Say why a run is never judged."""
    if run.broken is not None:
        layer, finding = run.broken["layer"], run.broken["finding"]
        return Obstacle(Outcome.BROKEN, f"broken at {layer}: {finding}")
    if run.drift:
        fields = "; ".join(
            f"{each['field']}: {each['baseline']} ≠ {each['candidate']}" for each in run.drift
        )
        return Obstacle(Outcome.INVALID, f"stack drift: {fields}")
    failed = "; ".join(
        f"{finding['code']}: {finding['message']}"
        for finding in run.findings
        if finding["severity"] == "failure"
    )
    return Obstacle(Outcome.INVALID, failed)


def _warnings(pair: Pair, comparison: Comparison) -> tuple[str, ...]:
    baseline, candidate = pair.baseline, pair.candidate
    together = {run.session_id for run in (*baseline.runs, *candidate.runs)}
    apart = [NOT_INTERLEAVED] if baseline.runs and candidate.runs and len(together) > 1 else []
    left_out = [
        f"{name}: {warning}"
        for name, arm in (("baseline", baseline), ("candidate", candidate))
        for warning in _left_out(arm)
    ]
    return (*comparison.warnings, *apart, *left_out)


def _moved(pair: Pair, stored: Stored) -> Sequence[str]:
    """Say it where the candidate answers otherwise than the baseline did."""
    seen = shift(_answers(pair.baseline, stored), _answers(pair.candidate, stored))
    return [str(seen)] if seen is not None and seen.is_beyond else []


def _answers(arm: Arm, stored: Stored) -> Sequence[Answer]:
    launched = dict.fromkeys(run.launch_id for run in arm.runs if _is_usable(run))
    return [stored.answers[launch] for launch in launched if launch in stored.answers]


def _left_out(arm: Arm) -> Sequence[str]:
    spoiled = [_spoiled(run).reason for run in arm.runs if not _is_usable(run)]
    asked = arm.launches_asked
    missing = (
        [f"{len(arm.runs)} of {asked} launches have a run"]
        if asked is not None and 0 < len(arm.runs) < asked
        else []
    )
    unused = [f"{len(spoiled)} of {len(arm.runs)} runs not judged: {spoiled[0]}"] if spoiled else []
    return [*missing, *unused]


def _read(pair: Pair, stored: Stored, comparison: Comparison) -> CellComparison:
    return CellComparison(
        condition_key=pair.cell.condition_key,
        protocol_key=pair.cell.protocol_key,
        title=title(stored.conditions[pair.cell.condition_key]),
        candidate_stack_key=pair.candidate_stack.key,
        candidate_stack_name=pair.candidate_stack.name,
        baseline_stack_key=pair.baseline_stack and pair.baseline_stack.key,
        baseline_stack_name=pair.baseline_stack and pair.baseline_stack.name,
        host=pair.host,
        against=pair.against,
        baseline_launches=_count(pair.baseline),
        candidate_launches=_count(pair.candidate),
        resolution=tuple(
            DifferenceRead.of(each)
            for each in changed(_resolution(pair.baseline), _resolution(pair.candidate))
        )
        if pair.baseline.runs and pair.candidate.runs
        else (),
        comparison=ComparisonRead.of(comparison),
    )


def _count(arm: Arm) -> int:
    return len({run.launch_id for run in arm.runs if _is_usable(run)})


def _resolution(arm: Arm) -> Resolution:
    told = [run.resolution for run in arm.runs if run.resolution]
    return Resolution(told[-1] if told else {})
