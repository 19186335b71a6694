"""The two sides of a cell: what is stored of each, and what forbids judging it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from service.domain.answer import LaunchAnswer, quality
from service.domain.cell import Cell, title
from service.domain.comparison import Comparison, Obstacle, Side, compare
from service.domain.condition import Condition
from service.domain.difference import Difference
from service.domain.host import UNKNOWN_HOST
from service.domain.metric import METRICS, Role
from service.domain.policy import Policy
from service.domain.protocol import Protocol
from service.domain.resolution import Resolution, changed, notes
from service.domain.stack import Stack
from service.domain.tail import TAIL_NOT_OFFERED
from service.domain.validity import SETTLED_BY_EVERY_RUNNER
from service.domain.verdict import Outcome
from service.formats.comparisons import Against, CellComparison
from service.formats.verdicts import ComparisonRead, DifferenceRead
from service.stats.variance import Expected
from service.store import conditions, launches, protocols, samples, stacks
from service.store.database import ReadSession
from service.store.runs import StoredRun
from service.usecases.paired_seeds import of_seeds, seeds_of_both, unpaired

JUDGED = tuple(metric for metric in METRICS.values() if metric.role is Role.JUDGED)
NO_HOST = "not known to be of one host: somebody imported runs without saying theirs"
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
    stacks: Mapping[str, Stack]
    values: Values
    answers: Mapping[UUID, LaunchAnswer]


def load(session: ReadSession, pairs: Sequence[Pair]) -> Stored:
    """Return the identities, the judged samples and the answers that some pairs need."""
    found = [run for pair in pairs for arm in (pair.baseline, pair.candidate) for run in arm.runs]
    return Stored(
        conditions=conditions.by_key(session, {pair.cell.condition_key for pair in pairs}),
        protocols=protocols.by_key(session, {pair.cell.protocol_key for pair in pairs}),
        stacks={key: found.stack for key, found in stacks.by_key(session, _stacks(pairs)).items()},
        values=samples.of_runs(
            session,
            sorted({run.id for run in found}),
            metrics={metric.name for metric in JUDGED},
        ),
        answers=launches.answers(session, {run.launch_id for run in found}),
    )


def _stacks(pairs: Iterable[Pair]) -> set[str]:
    named = (side for pair in pairs for side in (pair.baseline_stack, pair.candidate_stack))
    return {side.key for side in named if side is not None}


def compared(
    pair: Pair,
    stored: Stored,
    *,
    policy: Policy,
    expected: Mapping[str, Expected] | None = None,
) -> CellComparison:
    """Return the comparison of one cell, by the one rule, over the seeds that both arms have.

    expected: by metric name, the spread that the cell's history knows of on this host.
    """
    seeds = seeds_of_both(pair.baseline.runs, pair.candidate.runs)
    unlike = _unlike_definitions(pair)
    candidate = _side(pair.candidate, pair.cell, stored, seeds)
    comparison = compare(
        _side(pair.baseline, pair.cell, stored, seeds),
        replace(candidate, obstacles=(*candidate.obstacles, *unlike)),
        policy=policy,
        expected=expected,
    )
    warnings = (
        *_warnings(pair, comparison),
        *unpaired(pair.baseline.runs, pair.candidate.runs),
        *_moved(pair, stored),
        *_settled(pair, stored),
    )
    return _read(pair, stored, replace(comparison, warnings=warnings))


def _side(arm: Arm, cell: Cell, stored: Stored, seeds: frozenset[int]) -> Side:
    usable = [run for run in arm.runs if run.may_be_judged]
    return Side(
        condition=stored.conditions[cell.condition_key],
        protocol=stored.protocols[cell.protocol_key],
        samples={
            metric.name: repeats
            for metric in JUDGED
            if (repeats := _launches(metric.name, usable, stored.values, seeds))
        },
        obstacles=_obstacles(arm, usable),
    )


def _unlike_definitions(pair: Pair) -> tuple[Obstacle, ...]:
    """Say it where values of one name mean different things: such a pair is never judged.

    An import refuses it, but what is corrected or taken back comes beside what stands there.
    """
    told = {
        run.definition
        for run in (*pair.baseline.runs, *pair.candidate.runs)
        if run.may_be_judged and run.definition is not None
    }
    if len(told) <= 1:
        return ()
    listed = " and ".join(map(str, sorted(told)))
    reason = f"its values and those beside them are of definitions {listed}: withdraw one kind"
    return (Obstacle(Outcome.NOT_COMPARABLE, reason),)


def _launches(
    metric: str, usable: Iterable[StoredRun], values: Values, seeds: frozenset[int]
) -> list[Sequence[float]]:
    """Return a metric's repeats of some seeds, or of all where none is named, launch by launch."""
    by_launch: dict[UUID, list[float]] = {}
    for run in usable:
        if sample := of_seeds(run, values[run.id].get(metric, ()), seeds):
            by_launch.setdefault(run.launch_id, []).extend(sample)
    return list(by_launch.values())


def _obstacles(arm: Arm, usable: Sequence[StoredRun]) -> tuple[Obstacle, ...]:
    """Say what forbids judging an arm: a stack that broke, or no run that may be judged."""
    if not arm.runs:
        return (arm.absent,)
    broken = [_spoiled(run) for run in arm.runs if run.state == "broken" and run.withdrawal is None]
    if broken or not usable:
        return tuple(dict.fromkeys(broken or [_spoiled(run) for run in arm.runs]))
    return ()


def _spoiled(run: StoredRun) -> Obstacle:
    """Say why a run is never judged."""
    if run.withdrawal is not None:
        return Obstacle(Outcome.INVALID, f"run {run.id}, {run.withdrawal.sentence}")
    if run.broken is not None:
        layer, finding = run.broken["layer"], run.broken["finding"]
        return Obstacle(Outcome.BROKEN, f"broken at {layer}: {finding}")
    if run.drift:
        fields = "; ".join(
            f"{each['field']}: {each['baseline']} ≠ {each['candidate']}" for each in run.drift
        )
        return Obstacle(Outcome.INVALID, f"stack drift: {fields}")
    if run.state == "incomplete":
        lacking = (code for code in _codes([run], "unknown") if code in SETTLED_BY_EVERY_RUNNER)
        reason = f"incomplete: neither the result nor the server's log settles {', '.join(lacking)}"
        return Obstacle(Outcome.INVALID, reason)
    failed = "; ".join(
        f"{finding['code']}: {finding['message']}"
        for finding in run.findings
        if finding["severity"] == "failure"
    )
    return Obstacle(Outcome.INVALID, failed)


def _codes(found: Iterable[StoredRun], severity: str) -> list[str]:
    """Return the gates of some runs' findings of a severity, each once."""
    return list(
        dict.fromkeys(
            finding["code"]
            for run in found
            for finding in run.findings
            if finding["severity"] == severity
        )
    )


def _warnings(pair: Pair, comparison: Comparison) -> tuple[str, ...]:
    baseline, candidate = pair.baseline, pair.candidate
    apart = [NOT_INTERLEAVED] if baseline.runs and candidate.runs and _is_apart(pair) else []
    left_out = [
        f"{name}: {warning}"
        for name, arm in (("baseline", baseline), ("candidate", candidate))
        for warning in _left_out(arm)
    ]
    imported = [
        f"{name}: {warning}"
        for name, arm in (("baseline", baseline), ("candidate", candidate))
        for warning in (*_imported(arm), *_of_gates(arm))
    ]
    return (*comparison.warnings, *apart, *_hosts(pair), *imported, *left_out)


def _is_apart(pair: Pair) -> bool:
    """Return whether the arms are of more than one session, or of none that we know of."""
    together = {run.session_id for run in (*pair.baseline.runs, *pair.candidate.runs)}
    return len(together) > 1 or None in together


def _hosts(pair: Pair) -> Sequence[str]:
    """Say it where nobody knows whether the two arms are of one host."""
    hosts = {run.host for run in (*pair.baseline.runs, *pair.candidate.runs)}
    return [NO_HOST] if UNKNOWN_HOST in hosts else []


def _imported(arm: Arm) -> Sequence[str]:
    """Say of an arm's imported runs what nobody watched while they were measured."""
    usable = [run for run in arm.runs if run.may_be_judged]
    brought = [run for run in usable if run.is_imported]
    open_gates = _codes(brought, "unknown")
    unwatched = f"; not known to hold: {', '.join(open_gates)}" if open_gates else ""
    return [f"{len(brought)} of {len(usable)} runs imported{unwatched}"] if brought else []


def _of_gates(arm: Arm) -> Sequence[str]:
    """Say of the runs that are judged what was odd in them, and what nobody could see."""
    measured = [run for run in arm.runs if run.may_be_judged and not run.is_imported]
    odd = [code for code in _codes(measured, "warning") if code != TAIL_NOT_OFFERED]
    unseen = _codes(measured, "unknown")
    return [
        *([f"odd, and judged all the same: {', '.join(odd)}"] if odd else []),
        *([f"not known to hold: {', '.join(unseen)}"] if unseen else []),
    ]


def _moved(pair: Pair, stored: Stored) -> Sequence[str]:
    """Say it where the candidate answers otherwise than the baseline did."""
    return quality(_answers(pair.baseline, stored), _answers(pair.candidate, stored)).warnings


def _answers(arm: Arm, stored: Stored) -> Sequence[LaunchAnswer]:
    launched = dict.fromkeys(run.launch_id for run in arm.runs if run.may_be_judged)
    return [stored.answers[launch] for launch in launched if launch in stored.answers]


def _settled(pair: Pair, stored: Stored) -> Sequence[str]:
    """Say what the servers settled differently by themselves, and whether anybody asked for it."""
    named = (pair.baseline_stack, pair.candidate_stack)
    found = [stored.stacks[each.key] for each in named if each and each.key in stored.stacks]
    asked = [
        stored.conditions[pair.cell.condition_key].server_arguments,
        *(stack.server_arguments for stack in found),
    ]
    return notes(_differing(pair), asked=asked)


def _differing(pair: Pair) -> Sequence[Difference]:
    if not (pair.baseline.runs and pair.candidate.runs):
        return ()
    return changed(_resolution(pair.baseline), _resolution(pair.candidate))


def _left_out(arm: Arm) -> Sequence[str]:
    spoiled = [_spoiled(run).reason for run in arm.runs if not run.may_be_judged]
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
        resolution=tuple(DifferenceRead.of(each) for each in _differing(pair)),
        comparison=ComparisonRead.of(comparison),
    )


def _count(arm: Arm) -> int:
    return len({run.launch_id for run in arm.runs if run.may_be_judged})


def _resolution(arm: Arm) -> Resolution:
    told = [run.resolution for run in arm.runs if run.resolution]
    return Resolution(told[-1] if told else {})
