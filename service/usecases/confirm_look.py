"""One planned look at a confirm: the one rule on its own launches, at what this look may spend."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from service.domain.cell import Cell
from service.domain.comparison import Obstacle
from service.domain.confirm import TOLD, Suspect, conclusion, settled
from service.domain.confirm import Arm as Side
from service.domain.metric import metric_named
from service.domain.policy import Policy
from service.domain.verdict import Outcome
from service.formats.comparisons import CellComparison
from service.formats.confirms import ConfirmCell, ConfirmLook
from service.formats.verdicts import VerdictRead
from service.stats.variance import Expected
from service.store import sessions, stacks
from service.store.confirms import StoredConfirm
from service.store.database import ReadSession
from service.store.runs import StoredRun
from service.usecases.confirm_content import cell_of, looks_of
from service.usecases.confirm_launches import Progress
from service.usecases.history import expected_of_pairs
from service.usecases.judge_session import policy_of
from service.usecases.session_content import asked_of
from service.usecases.sides import Arm, NamedStack, Pair, Stored, compared, load

ONE_LAUNCH = "one launch alone decides it: more launches would tell"
# What an outcome is once it does not rest on one launch.
Settle = Callable[[Outcome], Outcome]
ABSENT = Obstacle(Outcome.MISSING, "it has no launch that may be judged")


def look_at_confirm(
    session: ReadSession, confirm: StoredConfirm, progress: Progress, count: int, *, now: datetime
) -> ConfirmLook:
    """Return what a look says after so many usable launches of each stack; later ones are not seen.

    Each cell is judged by the metric that it was chosen for, and by launches of this confirm alone.
    What an earlier look told of it stays, with the launches that it was told by.
    """
    content = progress.content
    pairs = _pairs(session, confirm, progress, count)
    policy = _policy(session, confirm, content.looks.confidence_at(count))
    stored = load(session, pairs)
    expected = expected_of_pairs(session, pairs)
    told = _told(confirm)
    found = [
        told.get((cell_of(named), named.metric))
        or _cell(
            named,
            pair,
            compared(pair, stored, policy=policy, expected=known),
            _stands(named.metric, pair, stored, (known or {}).get(named.metric)),
        )
        for named, pair, known in zip(content.cells, pairs, expected, strict=True)
    ]
    return ConfirmLook(
        launches=count,
        at=now,
        confidence=policy.confidence,
        outcome=conclusion(_outcomes(found), is_last=count == content.counts[-1]),
        cells=tuple(found),
    )


def _told(confirm: StoredConfirm) -> Mapping[tuple[Cell, str], ConfirmCell]:
    """Return the cells that the look before has told, each by its metric."""
    before = looks_of(confirm)[-1:]
    return {
        (cell_of(each), each.metric): each
        for look in before
        for each in look.cells
        if each.verdict is not None and each.verdict.outcome in TOLD
    }


def _policy(session: ReadSession, confirm: StoredConfirm, confidence: float) -> Policy:
    """Return the tolerances of the session, at the confidence of this look.

    A few launches with a repeat each are enough where history knows the spread; where nothing
    does, the rule itself says that it cannot tell.
    """
    if confirm.session_id is None:
        raise LookupError(f"confirm {confirm.id} has no session to look at")
    asked = asked_of(sessions.read(session, confirm.session_id)).policy
    return replace(policy_of(asked), confidence=confidence, min_repeats=1)


def _pairs(
    session: ReadSession, confirm: StoredConfirm, progress: Progress, count: int
) -> list[Pair]:
    names = stacks.names(session, [confirm.baseline_stack_key, confirm.candidate_stack_key])
    sides = {side: progress.usable(side)[:count] for side in Side}

    def runs(side: Side, cell: Cell) -> Sequence[StoredRun]:
        return [launched.runs[cell] for launched in sides[side]]

    before, after = confirm.baseline_stack_key, confirm.candidate_stack_key
    return [
        Pair(
            cell=cell,
            baseline_stack=NamedStack(before, names[before]),
            baseline=Arm(runs(Side.BASELINE, cell), ABSENT),
            candidate_stack=NamedStack(after, names[after]),
            candidate=Arm(runs(Side.CANDIDATE, cell), ABSENT),
            host=confirm.host,
            against="control",
        )
        for cell in map(cell_of, progress.content.cells)
    ]


def _stands(metric: str, pair: Pair, stored: Stored, expected: Expected | None) -> Settle:
    """Return what holds an outcome to the launches of both arms."""
    baseline, candidate = (
        [launch for run in arm.runs if (launch := stored.values[run.id].get(metric, ()))]
        for arm in (pair.baseline, pair.candidate)
    )
    return partial(
        settled,
        metric_named(metric),
        baseline=baseline,
        candidate=candidate,
        expected=expected,
    )


def _cell(named: ConfirmCell, pair: Pair, found: CellComparison, settle: Settle) -> ConfirmCell:
    verdicts = {verdict.metric: verdict for verdict in found.comparison.verdicts}
    runs = (*pair.baseline.runs, *pair.candidate.runs)
    return named.model_copy(
        update={
            "verdict": _held(verdicts.get(named.metric), settle),
            "baseline_launches": found.baseline_launches,
            "candidate_launches": found.candidate_launches,
            "run_ids": tuple(run.id for run in runs),
        }
    )


def _held(verdict: VerdictRead | None, settle: Settle) -> VerdictRead | None:
    """Return a verdict, or as inconclusive where one launch alone decides it."""
    if verdict is None or (outcome := settle(verdict.outcome)) is verdict.outcome:
        return verdict
    reason = ONE_LAUNCH if verdict.worsening is not None else verdict.reason
    return verdict.model_copy(update={"outcome": outcome, "reason": reason})


def _outcomes(found: Sequence[ConfirmCell]) -> Mapping[Suspect, Outcome]:
    """Return the word for each cell."""
    return {
        _suspect(cell): Outcome.MISSING if cell.verdict is None else cell.verdict.outcome
        for cell in found
    }


def _suspect(cell: ConfirmCell) -> Suspect:
    return Suspect(cell_of(cell), cell.metric, cell.evidence, "", 0.0, 0.0, 1, cell.suspected)
