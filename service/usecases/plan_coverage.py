"""Plan coverage: what people ask about and nobody knows, and what was measured long ago."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from service.domain.advice import Standing, measuring
from service.domain.compat import CompatState
from service.domain.condition import Condition
from service.domain.coverage import STALE_DAYS, Candidate, CellCost, card_seconds, proposed
from service.domain.key import content_key
from service.formats.advice import AdviceQuestion, AdviceRead
from service.formats.compat import CompatTold
from service.formats.compat_words import Said, said
from service.formats.coverage import CoverageRead, ProposalRead
from service.store import asks, compat, conditions, costs
from service.store.asks import Ask
from service.store.compat import CompatFilter, ToldStack
from service.store.costs import MeasuredCost
from service.store.database import ReadSession
from service.store.stacks import UnknownStackError
from service.usecases.advise import advise

# As many questions and stacks as are looked at.
ASKS = 50
STACKS = 200
DAY_S = 86_400.0
OPEN = frozenset({Standing.MISSING, Standing.OPEN})


@dataclass(frozen=True, slots=True)
class Proposal:
    """Something that may be measured, why, what of its time is assumed, and how to measure it."""

    candidate: Candidate
    why: Said
    assumed: int
    command: str | None


def plan_coverage(
    session: ReadSession, *, budget_s: float, rule: str, now: datetime
) -> CoverageRead:
    """Return what to measure next within a budget of card time."""
    both = (*_asked(session, rule=rule, now=now), *_stale(session, now=now))
    found = {each.candidate.name: each for each in both}
    candidates = [each.candidate for each in found.values() if each.candidate.worth > 0]
    chosen = proposed(candidates, budget_s=budget_s)
    return CoverageRead(
        budget_s=budget_s,
        seconds=sum(each.seconds for each in chosen),
        proposals=tuple(_read(found[each.name]) for each in chosen),
        left=len(candidates) - len(chosen),
    )


def cell_costs(session: ReadSession, keys: Collection[str]) -> Sequence[CellCost]:
    """Return what measuring some conditions costs, as it did before, or as is assumed."""
    known = costs.of_conditions(session, keys)
    under = conditions.by_key(session, keys)
    return [_cell_cost(condition, known.get(key)) for key, condition in sorted(under.items())]


def _cell_cost(condition: Condition, known: MeasuredCost | None) -> CellCost:
    server, cards = _server(condition), condition.cards.count
    if known is None:
        return CellCost(server, cards)
    return CellCost(server, cards, known.start_s, known.measure_s, known.launches, assumed=False)


def _server(condition: Condition) -> str:
    """Return what tells the servers of two conditions apart: cells of one server share launches."""
    return content_key(
        {
            "model": condition.model,
            "cards": condition.cards,
            "parallelism": condition.parallelism,
            "arguments": condition.server_arguments,
            "environment": condition.server_environment,
        }
    )


def _asked(session: ReadSession, *, rule: str, now: datetime) -> Iterable[Proposal]:
    for ask in asks.newest(session, limit=ASKS):
        try:
            question = AdviceQuestion.model_validate(ask.question)
            answer, _ = advise(session, question, rule=rule)
        except (UnknownStackError, ValueError):
            # What was asked about may be gone, or told in words of an earlier release.
            continue
        wanted = [cell.condition_key for cell in answer.cells if cell.standing in OPEN]
        if wanted:
            yield _of_ask(session, ask, answer, wanted, now)


def _of_ask(
    session: ReadSession, ask: Ask, answer: AdviceRead, wanted: Sequence[str], now: datetime
) -> Proposal:
    name = f"{answer.baseline.name} → {answer.candidate.name}"
    cost = cell_costs(session, wanted)
    candidate = Candidate(
        name=name,
        asked=ask.times,
        asked_days=(now - ask.asked_at).total_seconds() / DAY_S,
        open_cells=len(wanted),
        cells=len(wanted),
        age_days=0.0,
        seconds=card_seconds(cost, stacks=2),
    )
    of = len(answer.cells)
    why = said("plan.asked", name=name, times=ask.times, count=len(wanted), of=of)
    return Proposal(candidate, why, sum(each.assumed for each in cost), answer.command)


def _stale(session: ReadSession, *, now: datetime) -> Iterable[Proposal]:
    works = (CompatState.WORKS, CompatState.REGRESSED)
    for told in compat.page(session, CompatFilter(states=works), after=None, limit=STACKS):
        if told.measured_at is None:
            continue
        days = (now - told.measured_at).total_seconds() / DAY_S
        if days >= STALE_DAYS:
            yield _of_stack(session, told, days)


def _of_stack(session: ReadSession, told: ToldStack, days: float) -> Proposal:
    wanted = CompatFilter(model=told.model, card_model=told.card_model)
    found = compat.cells(session, [told.stack_key], wanted, limit=ASKS)
    keys = {each.condition_key for each in found}
    counts = CompatTold.model_validate(told.told).cells
    name = f"{told.name} for {told.model} on {told.card_model}"
    cost = cell_costs(session, keys)
    candidate = Candidate(
        name=name,
        asked=0,
        asked_days=0.0,
        open_cells=counts.get(CompatState.UNTESTED, 0),
        cells=sum(counts.values()),
        age_days=days,
        seconds=card_seconds(cost, stacks=1),
    )
    command = measuring(asks.plans(session, keys), stacks=[told.name], versions={})
    why = said("plan.stale", name=name, days=round(days))
    return Proposal(candidate, why, sum(each.assumed for each in cost), command)


def _read(found: Proposal) -> ProposalRead:
    candidate = found.candidate
    return ProposalRead(
        name=candidate.name,
        why=found.why.en,
        said=found.why,
        cells=candidate.cells,
        seconds=candidate.seconds,
        assumed=found.assumed,
        worth=candidate.worth,
        command=found.command,
    )
