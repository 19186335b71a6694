"""Read the dossier of a qualification: the answer, from both hosts before and after the change."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from service.domain.advice import CellEvidence, answered, standing
from service.domain.answer import shift
from service.domain.cell import Cell, title
from service.domain.compat import KV_TOKENS
from service.domain.metric import Better, Metric
from service.domain.policy import Policy
from service.domain.qualification import Phase, Role, Step
from service.domain.verdict import Outcome, Verdict, foremost, judge, unjudged
from service.formats.compat import CompatCell
from service.formats.matrix_view import MetricVerdict
from service.formats.qualifications import DossierCell, DossierRead, QualificationRead
from service.formats.verdicts import VerdictRead
from service.stats import change as changes
from service.stats.change import level_of
from service.stats.crossover import LEAST_LAUNCHES, crossover
from service.store import compat, conditions, launches, runs, samples, sessions
from service.store.compat import CompatFilter
from service.store.database import ReadSession
from service.store.runs import StoredRun
from service.usecases.judge_session import policy_of
from service.usecases.qualify import read_qualification
from service.usecases.session_content import asked_of
from service.usecases.sides import JUDGED

# As many runs of a session, and cells of a stack, as are looked at.
RUNS = 20_000
CELLS = 5000

Values = Mapping[UUID, Mapping[str, Sequence[float]]]


class NotMeasuredError(ValueError):
    """A dossier was asked for before there is anything to say."""

    def __init__(self, step: Step) -> None:
        super().__init__(f"there is no dossier yet: the next step is to {step}")


@dataclass(frozen=True, slots=True)
class Arm:
    """The runs of one host in one phase, in one cell, and their judged values."""

    runs: Sequence[StoredRun]
    values: Values

    @property
    def usable(self) -> Sequence[StoredRun]:
        """The runs that may be judged."""
        return [run for run in self.runs if run.may_be_judged]

    def launches(self, metric: str) -> Sequence[Sequence[float]]:
        """Return a metric's repeats, launch by launch."""
        found: dict[UUID, list[float]] = defaultdict(list)
        for run in self.usable:
            found[run.launch_id] += self.values[run.id].get(metric, ())
        return [sample for sample in found.values() if sample]


@dataclass(frozen=True, slots=True)
class Crossed:
    """The four arms of one cell: the canary before and after, and the control."""

    before: Arm
    after: Arm
    held_before: Arm
    held_after: Arm


Measured = Mapping[tuple[Phase, Role], Mapping[Cell, Arm]]


def read_dossier(session: ReadSession, qualification_id: UUID, *, now: datetime) -> DossierRead:
    """Return the dossier of a qualification that was measured before and after its change.

    Raises UnknownQualificationError and NotMeasuredError.
    """
    found = read_qualification(session, qualification_id)
    if found.step in {Step.MEASURE_BEFORE, Step.CHANGE, Step.MEASURE_AFTER}:
        raise NotMeasuredError(found.step)
    policy = _policy(session, found)
    measured = _measured(session, found)
    restored = Phase.RESTORED in found.content.sessions and found.step is Step.DONE
    cells = _cells(session, measured, Phase.AFTER, policy)
    return DossierRead(
        qualification=found,
        answer=answered({cell.standing for cell in cells}, forbidden=False),
        cells=cells,
        restored=_cells(session, measured, Phase.RESTORED, policy) if restored else None,
        not_tested=_not_tested(session, found, measured),
        at=now,
    )


def _policy(session: ReadSession, found: QualificationRead) -> Policy:
    first = found.content.sessions[Phase.BEFORE][Role.CANARY]
    return policy_of(asked_of(sessions.read(session, first)).policy)


def _measured(session: ReadSession, found: QualificationRead) -> Measured:
    return {
        (phase, role): _arms(session, runs.of_session(session, session_id, limit=RUNS))
        for phase, its in found.content.sessions.items()
        for role, session_id in its.items()
    }


def _arms(session: ReadSession, found: Iterable[StoredRun]) -> Mapping[Cell, Arm]:
    by_cell: dict[Cell, list[StoredRun]] = defaultdict(list)
    for run in found:
        by_cell[run.cell].append(run)
    names = {metric.name for metric in JUDGED}
    ids = sorted(run.id for its in by_cell.values() for run in its)
    values = samples.of_runs(session, ids, metrics=names)
    return {cell: Arm(its, values) for cell, its in by_cell.items()}


def _cells(
    session: ReadSession, measured: Measured, phase: Phase, policy: Policy
) -> tuple[DossierCell, ...]:
    nothing = Arm((), {})
    first = measured[Phase.BEFORE, Role.CANARY]
    under = conditions.by_key(session, {cell.condition_key for cell in first})
    return tuple(
        _cell(
            session,
            Crossed(
                arm,
                measured[phase, Role.CANARY].get(cell, nothing),
                measured[Phase.BEFORE, Role.CONTROL].get(cell, nothing),
                measured[phase, Role.CONTROL].get(cell, nothing),
            ),
            title(under[cell.condition_key]),
            policy,
        )
        for cell, arm in first.items()
    )


def _cell(session: ReadSession, crossed: Crossed, name: str, policy: Policy) -> DossierCell:
    verdicts = [_verdict(crossed, metric, policy) for metric in JUDGED]
    broken = [run for run in crossed.after.runs if run.broken is not None]
    outcome = Outcome.BROKEN if broken else foremost(each.outcome for each in verdicts)
    moved = shift(_answers(session, crossed.before), _answers(session, crossed.after))
    evidence = CellEvidence(
        measured=bool(crossed.after.usable),
        broken=bool(broken),
        outcome=outcome,
        moved=moved is not None and moved.is_beyond,
        kv_before=_room(crossed.before),
        kv_after=_room(crossed.after),
    )
    arms = (crossed.before, crossed.after, crossed.held_before, crossed.held_after)
    return DossierCell(
        title=name,
        standing=standing(evidence),
        outcome=outcome,
        finding=_finding(broken, crossed, str(moved) if moved and moved.is_beyond else ""),
        verdicts=tuple(MetricVerdict.of(VerdictRead.of(each)) for each in verdicts),
        control=_control(crossed),
        launches=tuple(len({run.launch_id for run in arm.usable}) for arm in arms),
    )


def _verdict(crossed: Crossed, metric: Metric, policy: Policy) -> Verdict:
    tolerance = policy.tolerance_of(metric)
    before, after = crossed.before.launches(metric.name), crossed.after.launches(metric.name)
    held = crossed.held_before.launches(metric.name), crossed.held_after.launches(metric.name)
    if not after:
        return unjudged(metric, Outcome.MISSING, "not measured after", tolerance=tolerance)
    try:
        change = crossover((before, after), held, confidence=policy.confidence)
    except changes.TooFewValuesError:
        reason = f"fewer than {LEAST_LAUNCHES} launches that count on one of the hosts"
        return unjudged(metric, Outcome.INSUFFICIENT_BASELINE, reason, tolerance=tolerance)
    except changes.ValueNotPositiveError as error:
        return unjudged(metric, Outcome.INVALID, str(error), tolerance=tolerance)
    lower = metric.better is Better.LOWER
    return replace(
        judge(metric, change.interval, tolerance=tolerance),
        smallest_detectable=change.smallest_detectable(tolerance, rise_is_worse=lower),
        baseline=level_of(before),
        candidate=level_of(after),
    )


def _control(crossed: Crossed) -> float | None:
    """Return how far the control moved by itself: the largest worsening or gain of any metric."""
    moved = []
    for metric in JUDGED:
        before = crossed.held_before.launches(metric.name)
        after = crossed.held_after.launches(metric.name)
        if before and after:
            moved.append(metric.worsening(level_of(after) / level_of(before) - 1))
    return max(moved, key=abs, default=None)


def _finding(broken: Sequence[StoredRun], crossed: Crossed, moved: str) -> str:
    for run in broken:
        told = run.broken or {}
        return f"{told.get('layer')}: {told.get('finding')}"
    drifted = [each for run in crossed.after.runs for each in run.drift]
    if drifted and not crossed.after.usable:
        each = drifted[0]
        return f"stack drift: {each['field']} {each['baseline']} ≠ {each['candidate']}"
    return moved


def _answers(session: ReadSession, arm: Arm) -> Sequence[Sequence[float]]:
    return list(launches.answers(session, {run.launch_id for run in arm.usable}).values())


def _room(arm: Arm) -> int | None:
    rooms = [run.resolution.get(KV_TOKENS) for run in arm.usable]
    return min((room for room in rooms if isinstance(room, int)), default=None)


def _not_tested(
    session: ReadSession, found: QualificationRead, measured: Measured
) -> tuple[str, ...]:
    """Return the cells in which the stack in use is known to work, and which were left out."""
    told = compat.cells(session, [found.baseline.key], CompatFilter(), limit=CELLS)
    first = {cell.condition_key for cell in measured[Phase.BEFORE, Role.CANARY]}
    cells = [CompatCell.model_validate(each.told) for each in told]
    return tuple(
        sorted(each.title for each in cells if each.usable and each.condition_key not in first)
    )
