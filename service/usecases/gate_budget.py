"""What a gate's card time went to, and which budget would have been enough."""

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from uuid import UUID

from service.domain.ci_gate import Stop
from service.domain.job import JobState
from service.formats.gate_answers import GateTime
from service.store.launches import Lived
from service.usecases.gate_cells import (
    GateState,
    card_seconds,
    saved_card_seconds,
    unbegun_card_seconds,
)

MINUTE_S = 60
# A round is a launch of each of them.
STACKS = 2


def time_of(state: GateState, lived: Sequence[Lived]) -> GateTime:
    """Return where the card time of a gate went. lived: its launches that have ended."""
    content = state.content
    return GateTime(
        budget_card_s=content.rules.budget_card_s,
        planned_card_s=sum(content.planned_card_s),
        spent_card_s=card_seconds(state, lived),
        saved_card_s=saved_card_seconds(state),
        unbegun_card_s=unbegun_card_seconds(state),
        unreported_card_s=card_seconds(state, _unreported(lived)),
    )


def budget_notes(state: GateState, lived: Sequence[Lived]) -> Iterator[str]:
    """Yield what was spent on nothing, and where the budget ended it too early, which would do."""
    if lost := _unreported(lived):
        yield _lost(len(lost), card_seconds(state, lost))
    if all(stop.stop.word is not Stop.BUDGET for stop in state.stops.values()):
        return
    begun = {each.job_id for each in lived}
    planned = sum(cost for job_id, cost in _planned(state).items() if job_id in begun)
    yield (
        f"the budget was spent{_until(state)}: {len(lived)} launches took "
        f"{card_seconds(state, lived):.0f} card-seconds where {planned:.0f} were planned; "
        f"at that, {_enough(state, lived)}"
    )


def _lost(count: int, card_s: float) -> str:
    if count == 1:
        return (
            "1 launch ended before the runner told anything of it: what it held the cards for "
            f"until it was lost, {card_s:.0f} card-seconds, is in the time spent"
        )
    return (
        f"{count} launches ended before the runner told anything of them: what they held the "
        f"cards for until they were lost, {card_s:.0f} card-seconds, is in the time spent"
    )


def _until(state: GateState) -> str:
    return "" if all(gated.baseline for gated in state.cells) else " before a control was there"


def _enough(state: GateState, lived: Sequence[Lived]) -> str:
    """Say which budgets would have been enough, at what launches took."""
    costs = _costs(state, lived)
    told = f"--budget {_minutes(sum(costs.values()))}m would do for all"
    if all(gated.measured for gated in state.cells):
        return told
    once = sum(costs[job_id] for job_id in _of_first_round(state))
    return f"--budget {_minutes(once)}m would have measured both stacks once, and {told}"


def _minutes(card_s: float) -> int:
    return ceil(card_s / MINUTE_S)


def _costs(state: GateState, lived: Sequence[Lived]) -> Mapping[UUID, float]:
    """Return the card-seconds of each launch: what it took, and what is still to come of it.

    What is to come costs what is planned, or as much more as those did that were told of.
    """
    planned = _planned(state)
    told = [each for each in lived if each.reported]
    usual = sum(planned.get(each.job_id, 0.0) for each in told)
    slower = max(card_seconds(state, told) / usual, 1.0) if usual else 1.0
    took = {
        job.id: card_seconds(state, [each for each in lived if each.job_id == job.id])
        for job in state.jobs
    }
    return {
        job.id: took[job.id]
        + (0.0 if job.state is JobState.REPORTED else slower * planned.get(job.id, 0.0))
        for job in state.jobs
    }


def _of_first_round(state: GateState) -> Iterator[UUID]:
    """Yield the jobs of the first launch of each stack, of every server that the cells need."""
    of_server = STACKS * state.looks.planned
    for begin in range(0, len(state.jobs), of_server):
        first: dict[str, UUID] = {}
        for job in state.jobs[begin : begin + of_server]:
            first.setdefault(job.stack_key, job.id)
        yield from first.values()


def _planned(state: GateState) -> Mapping[UUID, float]:
    return dict(zip((job.id for job in state.jobs), state.content.planned_card_s, strict=False))


def _unreported(lived: Sequence[Lived]) -> Sequence[Lived]:
    return [each for each in lived if not each.reported]
