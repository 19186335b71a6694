"""Cross a confirm: where a change needs a reboot, canary and control hosts speak, not launches."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from service.domain.cell import Cell, title
from service.domain.confirm import CONFIDENCE, Ending, conclusion
from service.domain.verdict import Outcome
from service.formats.confirms import ConfirmCell, ConfirmLook
from service.formats.verdicts import VerdictRead
from service.stats.crossover import LEAST_LAUNCHES
from service.store import conditions, confirms, qualifications, stacks
from service.store.confirms import StoredConfirm
from service.store.database import ReadSession, WriteSession
from service.usecases.conclude_confirm import conclude_confirm
from service.usecases.confirm_content import content_of
from service.usecases.confirm_suspects import Measurable
from service.usecases.dossier_arms import Arm
from service.usecases.read_dossier import CrossedCell, read_crossed

# So long a confirm waits for somebody to measure canary and control.
PATIENCE = timedelta(days=14)
HOW = (
    "not interleaved: a component that needs a reboot changed; canary and control hosts are "
    "measured before and after with `kunline qualify --from {baseline} --to {candidate}`"
)
TOLD = "not interleaved: canary and control hosts, before and after, in qualification {id}"


def cross_confirm(
    session: WriteSession, waiting: StoredConfirm, found: Sequence[Measurable], *, now: datetime
) -> StoredConfirm:
    """Conclude a confirm by the crossover of its two stacks, or wait until one was measured.

    No launch is begun: a person swaps drivers and firmware. All cells that the event lists and the
    crossover measured speak, each by the metric that showed most.
    """
    both = waiting.baseline_stack_key, waiting.candidate_stack_key
    qualification = qualifications.measured(session, *both)
    if qualification is None:
        return _waits(session, waiting, now)
    strongest = _strongest(found)
    crossed = read_crossed(session, qualification, strongest, confidence=CONFIDENCE)
    told = TOLD.format(id=qualification)
    if not crossed:
        reason = f"{told}, which measured no cell that the event lists"
        return _end(session, waiting, Outcome.INCONCLUSIVE, reason, now)
    looked = _looked(session, crossed, strongest, now)
    content = content_of(waiting).model_copy(
        update={"interleaved": False, "cells": looked.cells, "counts": (LEAST_LAUNCHES,)}
    )
    confirm = replace(
        waiting,
        content=content.model_dump(mode="json"),
        looks=[looked.model_dump(mode="json")],
        started_at=now,
    )
    return _end(session, confirm, looked.outcome or Outcome.INCONCLUSIVE, told, now)


def _strongest(found: Sequence[Measurable]) -> Mapping[Cell, Measurable]:
    """Return each cell once, with the metric that showed most."""
    ranked = sorted(found, key=lambda each: abs(each.suspect.evidence))
    return {each.suspect.cell: each for each in ranked}


def _looked(
    session: ReadSession,
    crossed: Sequence[CrossedCell],
    strongest: Mapping[Cell, Measurable],
    now: datetime,
) -> ConfirmLook:
    keys = {each.cell.condition_key for each in crossed}
    titles = {key: title(under) for key, under in conditions.by_key(session, keys).items()}
    cells = tuple(
        _cell(each, strongest[each.cell], titles[each.cell.condition_key]) for each in crossed
    )
    outcomes = {
        strongest[each.cell].suspect: cell.verdict.outcome
        for each, cell in zip(crossed, cells, strict=True)
        if cell.verdict is not None
    }
    return ConfirmLook(
        launches=min(min(cell.baseline_launches, cell.candidate_launches) for cell in cells),
        at=now,
        confidence=1 - (1 - CONFIDENCE) / len(cells),
        outcome=conclusion(outcomes, is_last=True),
        cells=cells,
    )


def _cell(crossed: CrossedCell, of: Measurable, shown: str) -> ConfirmCell:
    """Return one cell, with the launches of canary and control before, and those after."""
    suspect, arms = of.suspect, crossed.arms
    verdict = next(each for each in crossed.verdicts if each.metric == suspect.metric)
    return ConfirmCell(
        condition_key=crossed.cell.condition_key,
        protocol_key=crossed.cell.protocol_key,
        title=shown,
        metric=suspect.metric,
        evidence=suspect.evidence,
        suspected=suspect.change,
        verdict=VerdictRead.of(verdict),
        baseline_launches=_launches(arms.before, arms.held_before),
        candidate_launches=_launches(arms.after, arms.held_after),
        run_ids=tuple(run.id for arm in arms.arms for run in arm.usable),
    )


def _launches(*arms: Arm) -> int:
    return len({run.launch_id for arm in arms for run in arm.usable})


def _waits(session: WriteSession, waiting: StoredConfirm, now: datetime) -> StoredConfirm:
    names = stacks.names(session, [waiting.baseline_stack_key, waiting.candidate_stack_key])
    reason = HOW.format(
        baseline=names[waiting.baseline_stack_key], candidate=names[waiting.candidate_stack_key]
    )
    content = content_of(waiting).model_copy(update={"interleaved": False})
    still = replace(waiting, reason=reason, changed_at=now, content=content.model_dump(mode="json"))
    if now - waiting.asked_at > PATIENCE:
        return _end(session, still, Outcome.INCONCLUSIVE, reason, now)
    confirms.change(session, still)
    return still


def _end(
    session: WriteSession, confirm: StoredConfirm, outcome: Outcome, reason: str, now: datetime
) -> StoredConfirm:
    return conclude_confirm(
        session, confirm, outcome, by=Ending.NOT_INTERLEAVED, reason=reason, now=now
    )
