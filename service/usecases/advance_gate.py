"""Advance a gate: after each launch, stop what more launches would not tell anything new about."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from uuid import UUID

from service.domain.cell import Cell
from service.domain.ci_gate import Counts, Stop, counting, is_certain
from service.domain.verdict import Outcome
from service.formats.comparisons import CellComparison
from service.formats.gate_answers import GateStop
from service.store import ci_gates, launches, queued_cells
from service.store.database import WriteSession
from service.usecases.cached_controls import cached_controls
from service.usecases.gate_cells import (
    NOTHING_CACHED,
    Gated,
    GateState,
    StoppedCell,
    card_seconds,
    judged,
    state_of_session,
)
from service.usecases.gate_exemptions import Exemptions, exemptions_of

CACHED = "unchanged or improved beside controls of earlier sessions on this host and one of its own"
CERTAIN = "more launches would not change what is said of it"
CANARY = "the canary has regressed, so the answer is known"
BUDGET = "the next launch would exceed the budget of card time"


def advance_gate(session: WriteSession, session_id: UUID, *, now: datetime) -> None:
    """Stop the cells of a gate that need no further launch; any other session is left alone.

    It looks when a planned look is due, at as many rounds as both stacks have by then, so that
    what it sees does not depend on when it is asked. What runs just now is not ended.
    """
    state = state_of_session(session, session_id)
    if state is None or state.is_over:
        return
    running = [gated for gated in state.cells if gated.cell not in state.stops]
    stops = [*_broken(state, running), *_certain(session, state, running, now)]
    stops += _beside_cached(session, state, running, {stop.cell for stop in stops})
    left = [gated for gated in running if gated.cell not in {stop.cell for stop in stops}]
    if left and _is_spent(session, state):
        stops += [_stopped(gated, Stop.BUDGET, BUDGET) for gated in left]
    if stops:
        kept = [stop.model_dump(mode="json") for stop in (*state.stops.values(), *stops)]
        ci_gates.say_stopped(session, state.stored.id, kept)
        queued_cells.drop(session, session_id, {stop.cell for stop in stops}, now=now)


def _broken(state: GateState, running: list[Gated]) -> Iterator[StoppedCell]:
    """Yield the cells that broke; with fail_fast a cell that gates ends all others with it."""
    broken = {gated.cell: gated.broken for gated in running if gated.broken is not None}
    ends_all = state.content.rules.fail_fast and any(
        gated.gates for gated in running if gated.cell in broken
    )
    for gated in running:
        if found := broken.get(gated.cell):
            layer = (found[1].broken or {}).get("layer", "server")
            yield _stopped(gated, Stop.BROKEN, f"the {found[0]} broke at {layer}")
        elif ends_all:
            yield _stopped(gated, Stop.BROKEN, "another cell that gates broke")


def _certain(
    session: WriteSession, state: GateState, running: list[Gated], now: datetime
) -> Iterator[StoppedCell]:
    """Yield the cells whose verdict is certain, and all where the canary's is a regression."""
    due = {
        gated.cell: look
        for gated in running
        if gated.broken is None
        and (look := state.looks.due(gated.measured))
        and look < state.looks.planned
    }
    if not due:
        return
    found = judged(session, state, due)
    exempt = exemptions_of(session, state, at=now)
    certain = {cell for cell in due if _is_certain(found[cell])}
    canary = state.cells[0]
    fails = (
        state.content.rules.fail_fast
        and canary.cell in certain
        and _is_counted_regression(state, canary, found, exempt)
    )
    for gated in running:
        if gated.cell in certain:
            yield _stopped(gated, Stop.CERTAIN, CERTAIN, rounds=due[gated.cell])
        elif fails:
            yield _stopped(gated, Stop.CANARY, CANARY)


def _beside_cached(
    session: WriteSession, state: GateState, running: list[Gated], stopped: set[Cell]
) -> Iterator[StoppedCell]:
    """Yield the cells that controls of earlier sessions let call unchanged or improved.

    It is asked once the candidate has the launches of the first look and the base one of its own;
    whatever else it would say is left to the controls of this session.
    """
    first = state.looks.rounds[0]
    due = [
        gated
        for gated in running
        if gated.cell not in stopped
        and gated.broken is None
        and len(gated.candidate) >= first > len(gated.baseline) > 0
    ]
    cached = cached_controls(session, state) if due else NOTHING_CACHED
    rounds = {gated.cell: None for gated in due if gated.cell in cached}
    found = judged(session, state, rounds, cached) if rounds else {}
    for gated in due:
        comparison = found.get(gated.cell)
        if comparison and comparison.comparison.outcome in {Outcome.UNCHANGED, Outcome.IMPROVED}:
            yield _stopped(gated, Stop.CERTAIN, CACHED, cached=True)


def _is_certain(found: CellComparison) -> bool:
    return is_certain([verdict.outcome for verdict in found.comparison.verdicts])


def _is_counted_regression(
    state: GateState, gated: Gated, found: Mapping[Cell, CellComparison], exempt: Exemptions
) -> bool:
    return any(
        verdict.outcome is Outcome.REGRESSED
        and counting(
            verdict.outcome,
            standing=exempt.standing(state, gated, verdict.metric),
            has_incident=gated.cell in exempt.incidents,
            is_waived=exempt.waiver(state, gated, verdict.metric) is not None,
        )
        is Counts.COUNTED
        for verdict in found[gated.cell].comparison.verdicts
    )


def _is_spent(session: WriteSession, state: GateState) -> bool:
    """Return whether the next launch would go beyond the budget, where there is one."""
    budget = state.content.rules.budget_card_s
    planned = dict(zip((job.id for job in state.jobs), state.content.planned_card_s, strict=False))
    queued = [planned[job.id] for job in state.jobs if job.state == "queued" and job.id in planned]
    if budget is None or not queued:
        return False
    spent = card_seconds(state, launches.lived(session, state.session.id))
    return spent + queued[0] > budget


def _stopped(
    gated: Gated, word: Stop, why: str, *, rounds: int | None = None, cached: bool = False
) -> StoppedCell:
    return StoppedCell(
        condition_key=gated.cell.condition_key,
        protocol_key=gated.cell.protocol_key,
        rounds=rounds,
        stop=GateStop(word=word, why=why),
        cached=cached,
    )
