"""Answer a gate: what is said of a candidate by now, cell by cell, and what of it counts."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from service.domain.ci_gate import Counts, counting, exit_code, outcome_of
from service.domain.metric import METRICS
from service.domain.stack_difference import changed_arguments, changed_components, widest_scope
from service.domain.verdict import Outcome, foremost
from service.formats.ci_gates import GateRead
from service.formats.comparisons import CellComparison
from service.formats.gate_answers import (
    GateAnswer,
    GateBroken,
    GateCell,
    GateComponent,
    GateControl,
    GateStop,
    GateVerdict,
    GateWaiver,
)
from service.formats.verdicts import DifferenceRead, VerdictRead
from service.store import ci_gates, launches, stacks
from service.store.database import ReadSession
from service.store.runs import StoredRun
from service.store.waivers import StoredWaiver
from service.usecases.cached_controls import cached_controls
from service.usecases.gate_budget import budget_notes, time_of
from service.usecases.gate_cells import (
    NOTHING_CACHED,
    Cached,
    Gated,
    GateState,
    judged,
    read_state,
)
from service.usecases.gate_exemptions import Exemptions, exemptions_of
from service.usecases.read_sessions import read_session

# The words for what was not judged: their reasons are shown once a cell.
UNJUDGED = frozenset(
    {
        Outcome.BROKEN,
        Outcome.INVALID,
        Outcome.MISSING,
        Outcome.NOT_COMPARABLE,
        Outcome.INSUFFICIENT_BASELINE,
    }
)
CACHED = "measured in earlier sessions on this host, beside {own} in turn with the candidate"
INTERLEAVED = "measured in turn with the candidate, in one session on one host"
NO_CONTROL = "no launch of the baseline has a value"
ALL_EXEMPT = "nothing was counted: every cell informs, is waived, or has an incident that is open"


def read_gate(session: ReadSession, gate_id: UUID, *, now: datetime) -> GateRead:
    """Return a gate and what it says by now. Raises UnknownGateError."""
    stored = ci_gates.read(session, gate_id)
    state = read_state(session, stored)
    return GateRead(
        id=stored.id,
        session=read_session(session, stored.session_id),
        answer=answered(session, state, now=now),
    )


def answered(session: ReadSession, state: GateState, *, now: datetime) -> GateAnswer:
    """Return what a gate says by now; waivers are those that are in force now."""
    rounds = {
        gated.cell: stop.rounds if (stop := state.stops.get(gated.cell)) else None
        for gated in state.cells
    }
    cached = _cached(session, state)
    found = judged(session, state, rounds, cached)
    exempt = exemptions_of(session, state, at=now)
    cells = tuple(
        _cell(state, gated, found[gated.cell], exempt, _control(gated, cached.get(gated.cell, ())))
        for gated in state.cells
    )
    outcome = outcome_of(cell.counted for cell in cells if cell.counted is not None)
    content = state.content
    lived = launches.lived(session, state.session.id)
    counted = any(cell.counted is not None for cell in cells)
    return GateAnswer(
        id=state.stored.id,
        session_id=state.session.id,
        plan=state.session.plan,
        mode="local" if content.mode == "local" else "remote",
        state=state_word(state.session.state),
        outcome=outcome,
        exit_code=exit_code(outcome, inconclusive_blocks=content.rules.inconclusive_blocks),
        inconclusive_blocks=content.rules.inconclusive_blocks,
        base=content.base,
        candidate=content.candidate,
        **_difference(session, content.base.stack_key, content.candidate.stack_key),
        cells=cells,
        time=time_of(state, lived),
        host=state.session.host,
        asked_by=state.stored.asked_by,
        asked_at=state.stored.asked_at,
        finished_at=state.session.finished_at,
        reproduce=content.reproduce,
        notes=(
            *content.notes,
            *budget_notes(state, lived),
            *(() if counted else (ALL_EXEMPT,)),
        ),
    )


def _cached(session: ReadSession, state: GateState) -> Cached:
    """Return the controls of earlier sessions that verdicts of this gate rest on."""
    used = {cell for cell, stop in state.stops.items() if stop.cached}
    every = cached_controls(session, state) if used else NOTHING_CACHED
    return {cell: launches for cell, launches in every.items() if cell in used}


def state_word(state: str) -> str:
    """Return a gate's state in the words of its answer, from that of its session."""
    return state if state in {"finished", "cancelled"} else "running"


def _difference(session: ReadSession, base: str, candidate: str) -> Mapping[str, object]:
    found = stacks.by_key(session, [base, candidate])
    before, after = found[base].stack, found[candidate].stack
    components = changed_components(before, after)
    return {
        "components": tuple(
            GateComponent(
                name=change.name,
                layer=change.layer,
                scope=change.scope,
                recorded=change.recorded,
                baseline=change.baseline,
                candidate=change.candidate,
            )
            for change in components
        ),
        "arguments": tuple(map(DifferenceRead.of, changed_arguments(before, after))),
        "scope": widest_scope(components),
    }


def _cell(
    state: GateState, gated: Gated, found: CellComparison, exempt: Exemptions, control: GateControl
) -> GateCell:
    order, comparison = gated.order, found.comparison
    verdicts = tuple(_verdict(state, gated, verdict, exempt) for verdict in comparison.verdicts)
    counted = [each.verdict.outcome for each in verdicts if each.counts is Counts.COUNTED]
    reasons = [each.reason for each in comparison.verdicts if each.outcome in UNJUDGED]
    stop = state.stops.get(gated.cell)
    return GateCell(
        condition_key=order.condition_key,
        protocol_key=order.protocol_key,
        title=found.title,
        workload=order.workload,
        layout=order.layout,
        why=order.why,
        canary=gated is state.cells[0],
        standing=order.standing,
        outcome=comparison.outcome,
        counted=foremost(counted) if counted else None,
        reasons=tuple(dict.fromkeys(reasons)),
        verdicts=verdicts,
        differences=comparison.differences,
        resolution=found.resolution,
        warnings=comparison.warnings,
        broken=_broken(gated),
        control=control,
        baseline_launches=found.baseline_launches,
        candidate_launches=found.candidate_launches,
        planned_launches=state.looks.planned,
        stopped=stop.stop if stop else _ended(state, gated),
        incident=exempt.incidents.get(gated.cell),
        reproduce=order.reproduce,
    )


def _verdict(
    state: GateState, gated: Gated, verdict: VerdictRead, exempt: Exemptions
) -> GateVerdict:
    waiver = exempt.waiver(state, gated, verdict.metric)
    counts = counting(
        verdict.outcome,
        standing=exempt.standing(state, gated, verdict.metric),
        has_incident=gated.cell in exempt.incidents,
        is_waived=waiver is not None,
    )
    return GateVerdict(
        verdict=verdict,
        unit=METRICS[verdict.metric].unit,
        counts=counts,
        waiver=_waiver(waiver) if counts is Counts.WAIVED and waiver else None,
    )


def _waiver(stored: StoredWaiver) -> GateWaiver:
    waiver = stored.waiver
    return GateWaiver(id=stored.id, who=waiver.who, reason=waiver.why, until=waiver.until)


def _broken(gated: Gated) -> GateBroken | None:
    if gated.broken is None:
        return None
    side, run = gated.broken
    return GateBroken.model_validate({"remedy": "", **(run.broken or {}), "side": side})


def _control(gated: Gated, cached: Sequence[Sequence[StoredRun]]) -> GateControl:
    own = _usable(gated.baseline)
    if cached:
        earlier = [run for launch in cached for run in launch]
        return GateControl(
            kind="cached",
            launches=own + len(cached),
            sessions=len({run.session_id for run in earlier}) + 1,
            oldest=min(run.measured_at for run in earlier),
            why=CACHED.format(own=own),
        )
    if own:
        return GateControl(kind="interleaved", launches=own, sessions=1, why=INTERLEAVED)
    return GateControl(kind="none", launches=0, why=NO_CONTROL)


def _usable(launched: Sequence[Sequence[StoredRun]]) -> int:
    return sum(any(run.may_be_judged for run in runs) for runs in launched)


def _ended(state: GateState, gated: Gated) -> GateStop | None:
    """Say it where a person ended the gate before the cell had all its rounds."""
    if state.session.state != "cancelled" or gated.measured >= state.looks.planned:
        return None
    return GateStop.model_validate({"word": "cancelled", "why": "the gate was cancelled"})
