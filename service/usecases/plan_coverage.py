"""Plan coverage: what people ask about and nobody knows, and what was measured long ago."""

from collections.abc import Iterable
from datetime import datetime

from service.domain.advice import Standing, measuring
from service.domain.compat import CompatState
from service.domain.coverage import STALE_DAYS, Candidate, proposed
from service.formats.advice import AdviceQuestion, AdviceRead
from service.formats.compat import CompatTold
from service.formats.coverage import CoverageRead, ProposalRead
from service.store import asks, compat
from service.store.asks import Ask
from service.store.compat import CompatFilter, ToldStack
from service.store.database import ReadSession
from service.store.stacks import UnknownStackError
from service.usecases.advise import advise

# As many questions and stacks as are looked at.
ASKS = 50
STACKS = 200
# What one cell costs where nobody measured it yet: a launch shared by some cells, and repeats.
CELL_S = 300.0
DAY_S = 86_400.0
OPEN = frozenset({Standing.MISSING, Standing.OPEN})
LAUNCHES = 3


def plan_coverage(
    session: ReadSession, *, budget_s: float, rule: str, now: datetime
) -> CoverageRead:
    """Return what to measure next within a budget of card time."""
    found = {
        each[0].name: each
        for each in (*_asked(session, rule=rule, now=now), *_stale(session, now=now))
    }
    candidates = [each for each, _, _ in found.values() if each.worth > 0]
    chosen = proposed(candidates, budget_s=budget_s)
    return CoverageRead(
        budget_s=budget_s,
        seconds=sum(each.seconds for each in chosen),
        proposals=tuple(_read(*found[each.name]) for each in chosen),
        left=len(candidates) - len(chosen),
    )


def _asked(
    session: ReadSession, *, rule: str, now: datetime
) -> Iterable[tuple[Candidate, str, str | None]]:
    for ask in asks.newest(session, limit=ASKS):
        try:
            question = AdviceQuestion.model_validate(ask.question)
            answer, _ = advise(session, question, rule=rule)
        except (UnknownStackError, ValueError):
            # What was asked about may be gone, or told in words of an earlier release.
            continue
        wanted = [cell for cell in answer.cells if cell.standing in OPEN]
        if wanted:
            why = f"asked {ask.times} times, {len(wanted)} of {len(answer.cells)} cells open"
            yield _of_ask(ask, answer, len(wanted), now), why, answer.command


def _of_ask(ask: Ask, answer: AdviceRead, wanted: int, now: datetime) -> Candidate:
    return Candidate(
        name=f"{answer.baseline.name} → {answer.candidate.name}",
        asked=ask.times,
        asked_days=(now - ask.asked_at).total_seconds() / DAY_S,
        open_cells=wanted,
        cells=wanted,
        age_days=0.0,
        seconds=2 * LAUNCHES * CELL_S * wanted,
    )


def _stale(session: ReadSession, *, now: datetime) -> Iterable[tuple[Candidate, str, str | None]]:
    works = (CompatState.WORKS, CompatState.REGRESSED)
    for told in compat.page(session, CompatFilter(states=works), after=None, limit=STACKS):
        if told.measured_at is None:
            continue
        days = (now - told.measured_at).total_seconds() / DAY_S
        if days >= STALE_DAYS:
            yield _of_stack(session, told, days)


def _of_stack(
    session: ReadSession, told: ToldStack, days: float
) -> tuple[Candidate, str, str | None]:
    wanted = CompatFilter(model=told.model, card_model=told.card_model)
    found = compat.cells(session, [told.stack_key], wanted, limit=ASKS)
    keys = {each.condition_key for each in found}
    counts = CompatTold.model_validate(told.told).cells
    candidate = Candidate(
        name=f"{told.name} for {told.model} on {told.card_model}",
        asked=0,
        asked_days=0.0,
        open_cells=counts.get(CompatState.UNTESTED, 0),
        cells=sum(counts.values()),
        age_days=days,
        seconds=LAUNCHES * CELL_S * len(keys),
    )
    command = measuring(asks.plans(session, keys), stacks=[told.name], versions={})
    return candidate, f"measured {days:.0f} days ago", command


def _read(candidate: Candidate, why: str, command: str | None) -> ProposalRead:
    return ProposalRead(
        name=candidate.name,
        why=f"{candidate.name}: {why}",
        cells=candidate.cells,
        seconds=candidate.seconds,
        worth=candidate.worth,
        command=command,
    )
