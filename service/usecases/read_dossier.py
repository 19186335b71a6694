"""Read the dossier of a qualification: the answer, from all that its phases measured."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from service.domain.advice import answered, standing
from service.domain.cell import Cell, title
from service.domain.metric import Better, Metric
from service.domain.policy import Policy
from service.domain.qualification import Phase, Role, Step, Way
from service.domain.verdict import Outcome, Verdict, foremost, judge, unjudged
from service.formats.comparisons import CellComparison
from service.formats.compat import CompatCell
from service.formats.matrix_view import MetricVerdict
from service.formats.qualifications import DossierCell, DossierRead, QualificationRead
from service.formats.verdicts import VerdictRead
from service.stats import change as changes
from service.stats.change import level_of
from service.stats.crossover import LEAST_LAUNCHES, crossover
from service.store import compat, conditions, runs, sessions
from service.store.compat import CompatFilter
from service.store.database import ReadSession
from service.usecases.dossier_arms import NOTHING, Arm, arms, evidence
from service.usecases.judge_session import judge_session, policy_of
from service.usecases.qualify import read_qualification
from service.usecases.session_content import asked_of
from service.usecases.sides import JUDGED

# As many runs of a session, and cells of a stack, as are looked at.
RUNS = 20_000
CELLS = 5000
UNMEASURED = frozenset({Step.MEASURE, Step.MEASURE_BEFORE, Step.CHANGE, Step.MEASURE_AFTER})


class NotMeasuredError(ValueError):
    """A dossier was asked for before there is anything to say."""

    def __init__(self, step: Step) -> None:
        super().__init__(f"there is no dossier yet: the next step is to {step}")


@dataclass(frozen=True, slots=True)
class Crossed:
    """The four arms of one cell: the canary before and after, and the control."""

    before: Arm
    after: Arm
    held_before: Arm
    held_after: Arm

    @property
    def arms(self) -> tuple[Arm, ...]:
        """All four."""
        return self.before, self.after, self.held_before, self.held_after


@dataclass(frozen=True, slots=True)
class CrossedCell:
    """What a crossover says of one cell, metric by metric, and the arms that it rests on."""

    cell: Cell
    verdicts: tuple[Verdict, ...]
    arms: Crossed


Measured = Mapping[tuple[Phase, Role], Mapping[Cell, Arm]]


def read_dossier(session: ReadSession, qualification_id: UUID, *, now: datetime) -> DossierRead:
    """Return the dossier of a qualification of which both stacks were measured.

    Raises UnknownQualificationError and NotMeasuredError.
    """
    found = read_qualification(session, qualification_id)
    if found.step in UNMEASURED:
        raise NotMeasuredError(found.step)
    if found.content.way is Way.INTERLEAVED:
        cells, restored = _taken_in_turn(session, found), None
    else:
        cells, restored = _crossed(session, found)
    tested = {cell.condition_key for cell in cells}
    return DossierRead(
        qualification=found,
        answer=answered({read.standing for read in cells.values()}, forbidden=False),
        cells=tuple(cells.values()),
        restored=restored,
        not_tested=_not_tested(session, found, tested),
        at=now,
    )


def _taken_in_turn(session: ReadSession, found: QualificationRead) -> Mapping[Cell, DossierCell]:
    """Return the cells of a session that measured both stacks, judged by the one rule."""
    session_id = found.content.sessions[Phase.TOGETHER][Role.CANARY]
    its_runs = runs.of_session(session, session_id, limit=RUNS)
    before, after = (
        arms(session, [run for run in its_runs if run.stack_key == side.key])
        for side in (found.baseline, found.candidate)
    )
    judged = judge_session(session, session_id, baseline=found.baseline.key)
    by_cell = {Cell(each.condition_key, each.protocol_key): each for each in judged.cells}
    return {
        cell: _judged_cell(session, before.get(cell, NOTHING), after.get(cell, NOTHING), each)
        for cell, each in by_cell.items()
    }


def _judged_cell(
    session: ReadSession, before: Arm, after: Arm, judged: CellComparison
) -> DossierCell:
    outcome = judged.comparison.outcome
    seen, finding = evidence(session, before, after, outcome)
    return DossierCell(
        title=judged.title,
        standing=standing(seen),
        outcome=outcome,
        finding=finding,
        verdicts=tuple(MetricVerdict.of(each) for each in judged.comparison.verdicts),
        control=None,
        launches=(before.launch_count, after.launch_count),
    )


def _crossed(
    session: ReadSession, found: QualificationRead
) -> tuple[Mapping[Cell, DossierCell], tuple[DossierCell, ...] | None]:
    """Return the cells of a crossover, and the same after its rollback, if it was rolled back."""
    policy, measured = _policy(session, found), _measured(session, found)
    cells = _cells(session, measured, Phase.AFTER, policy)
    if Phase.RESTORED not in found.content.sessions or found.step is not Step.DONE:
        return cells, None
    return cells, tuple(_cells(session, measured, Phase.RESTORED, policy).values())


def read_crossed(
    session: ReadSession, qualification_id: UUID, wanted: Collection[Cell], *, confidence: float
) -> Sequence[CrossedCell]:
    """Return what a crossover that was measured after its change says of some of its cells.

    confidence: of all these cells together; each has its share of what may be wrong.
    Raises UnknownQualificationError.
    """
    found = read_qualification(session, qualification_id)
    crossed = _four_arms(_measured(session, found), Phase.AFTER)
    cells = [cell for cell in crossed if cell in wanted]
    if not cells:
        return ()
    policy = replace(_policy(session, found), confidence=1 - (1 - confidence) / len(cells))
    return [
        CrossedCell(
            cell, tuple(_verdict(crossed[cell], metric, policy) for metric in JUDGED), crossed[cell]
        )
        for cell in cells
    ]


def _policy(session: ReadSession, found: QualificationRead) -> Policy:
    first = found.content.sessions[Phase.BEFORE][Role.CANARY]
    return policy_of(asked_of(sessions.read(session, first)).policy)


def _measured(session: ReadSession, found: QualificationRead) -> Measured:
    return {
        (phase, role): arms(session, runs.of_session(session, session_id, limit=RUNS))
        for phase, its in found.content.sessions.items()
        for role, session_id in its.items()
    }


def _four_arms(measured: Measured, phase: Phase) -> Mapping[Cell, Crossed]:
    return {
        cell: Crossed(
            arm,
            measured[phase, Role.CANARY].get(cell, NOTHING),
            measured[Phase.BEFORE, Role.CONTROL].get(cell, NOTHING),
            measured[phase, Role.CONTROL].get(cell, NOTHING),
        )
        for cell, arm in measured[Phase.BEFORE, Role.CANARY].items()
    }


def _cells(
    session: ReadSession, measured: Measured, phase: Phase, policy: Policy
) -> Mapping[Cell, DossierCell]:
    crossed = _four_arms(measured, phase)
    under = conditions.by_key(session, {cell.condition_key for cell in crossed})
    return {
        cell: _cell(session, four, title(under[cell.condition_key]), policy)
        for cell, four in crossed.items()
    }


def _cell(session: ReadSession, crossed: Crossed, name: str, policy: Policy) -> DossierCell:
    verdicts = [_verdict(crossed, metric, policy) for metric in JUDGED]
    broke = bool(crossed.after.broken)
    outcome = Outcome.BROKEN if broke else foremost(each.outcome for each in verdicts)
    seen, finding = evidence(session, crossed.before, crossed.after, outcome)
    return DossierCell(
        title=name,
        standing=standing(seen),
        outcome=outcome,
        finding=finding,
        verdicts=tuple(MetricVerdict.of(VerdictRead.of(each)) for each in verdicts),
        control=_control(crossed),
        launches=tuple(arm.launch_count for arm in crossed.arms),
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


def _not_tested(
    session: ReadSession, found: QualificationRead, tested: Collection[str]
) -> tuple[str, ...]:
    """Return the cells in which the stack in use is known to work, and which were left out.

    tested: condition keys.
    """
    told = compat.cells(session, [found.baseline.key], CompatFilter(), limit=CELLS)
    cells = [CompatCell.model_validate(each.told) for each in told]
    return tuple(
        sorted(each.title for each in cells if each.usable and each.condition_key not in tested)
    )
