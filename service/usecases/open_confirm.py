"""Open a confirm: an event's cells are measured again on both stacks, as far as the budget goes."""

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from service.domain import confirm as rules
from service.domain.audit import Act, Noun
from service.domain.cell import title
from service.domain.confirm import (
    NOTHING_SPENT,
    Budget,
    Cost,
    Design,
    Ending,
    State,
    design,
)
from service.domain.incident import Direction
from service.domain.stack import SwapScope
from service.domain.stack_difference import changed_components, widest_scope
from service.domain.verdict import Outcome
from service.formats.confirms import ConfirmCell, ConfirmOrder, CostRead
from service.store import conditions, confirms, events, launches, looks, stacks
from service.store.confirms import StoredConfirm
from service.store.database import ReadSession, WriteSession
from service.store.events import StoredEvent, UnknownEventError
from service.usecases.conclude_confirm import conclude_confirm
from service.usecases.confirm_budget import night_left
from service.usecases.confirm_content import ConfirmContent, content_of
from service.usecases.confirm_session import order_of
from service.usecases.confirm_suspects import Measurable, measurable
from service.usecases.cross_confirm import cross_confirm
from service.usecases.note_act import note_act
from service.usecases.submit_session import submit_session
from service.usecases.triage_incident import EventNotComparableError

# A stack that was not started on a host for so long may find its caches emptied there.
WARM = timedelta(days=7)
# So long a confirm waits for budget before it is given up.
PATIENCE = timedelta(days=3)


def open_confirm(
    session: WriteSession, order: ConfirmOrder, *, budget: Budget, who: str, now: datetime
) -> UUID:
    """Open a confirm of an event and return its id; where one waits or runs already, that one's.

    Raises UnknownEventError and EventNotComparableError.
    """
    confirms.hold(session)
    event = _whole(session, order.event_id)
    known = [each for each in confirms.of_event(session, event.id) if each.state != State.ENDED]
    if known:
        return known[0].id
    new = _new(session, event, order, budget, who, now)
    confirms.keep(session, new)
    note_act(session, Act.CONFIRM, Noun.CONFIRM, new.id, who=who, what=order.why, now=now)
    begin_confirm(session, new, budget=budget, now=now)
    return new.id


def begin_confirm(
    session: WriteSession, waiting: StoredConfirm, *, budget: Budget, now: datetime
) -> StoredConfirm:
    """Begin one that waits, if the budget of the night pays for it, and return what it became."""
    try:
        event = events.read(session, waiting.event_id)
    except UnknownEventError as error:
        return _nothing(session, waiting, str(error), now)
    both = waiting.baseline_stack_key, waiting.candidate_stack_key
    if both[0] == both[1]:
        reason = "the stack is the same before and after the change, so no stack is to blame"
        return _nothing(session, waiting, reason, now)
    found = measurable(session, event, *both)
    if _needs_reboot(session, *both):
        return cross_confirm(session, waiting, found, now=now)
    if not found:
        reason = f"no job measured both stacks on {event.host} in a cell that the event lists"
        return _nothing(session, waiting, reason, now)
    return _within_budget(session, waiting, found, budget, now)


def _whole(session: ReadSession, event_id: UUID) -> StoredEvent:
    """Return an event, or the one that it is part of."""
    event = events.read(session, event_id)
    return event if event.part_of is None else events.read(session, event.part_of)


def _new(
    session: ReadSession,
    event: StoredEvent,
    order: ConfirmOrder,
    budget: Budget,
    who: str,
    now: datetime,
) -> StoredConfirm:
    if event.before_stack_key is None:
        raise EventNotComparableError(event.id)
    is_own = order.launches is not None or order.card_s is not None
    limit = Cost(order.launches or budget.each.launches, order.card_s or budget.each.card_s)
    content = ConfirmContent(
        limit=CostRead.of(limit), night=CostRead.of(budget.night), is_own=is_own
    )
    return StoredConfirm(
        id=uuid4(),
        event_id=event.id,
        host=event.host,
        direction=Direction.WORSE if event.worse else Direction.BETTER,
        baseline_stack_key=event.before_stack_key,
        candidate_stack_key=_candidate(session, event),
        asked_by=who,
        asked_at=now,
        why=order.why,
        changed_at=now,
        content=content.model_dump(mode="json"),
    )


def _candidate(session: ReadSession, event: StoredEvent) -> str:
    """Return the stack in which the change was seen, or where it is the one before, its first.

    Where a change is seen nights after it came, the change point may be a night too early: the
    stack that the event was seen in has the change for sure.
    """
    seen = looks.by_number(session, [event.seen_look])[event.seen_look].stack_key
    return event.change_stack_key if seen == event.before_stack_key else seen


def _needs_reboot(session: ReadSession, baseline: str, candidate: str) -> bool:
    both = stacks.by_key(session, [baseline, candidate])
    changes = changed_components(both[baseline].stack, both[candidate].stack)
    return widest_scope(changes) is SwapScope.HOST


def _within_budget(
    session: WriteSession,
    waiting: StoredConfirm,
    found: Sequence[Measurable],
    budget: Budget,
    now: datetime,
) -> StoredConfirm:
    content = content_of(waiting)
    own = content.limit.cost if content.is_own else _own_left(session, waiting, budget)
    update = {"limit": CostRead.of(own), "night": CostRead.of(budget.night)}
    content = content.model_copy(update=update)
    night = night_left(session, budget.night, now=now)
    suspects = [each.suspect for each in found]
    cold = _is_cold(session, waiting, now)
    try:
        planned = design(suspects, left=own.least(night), cold_caches=cold)
    except rules.OverBudgetError as error:
        never = not own.covers(error.needed)
        return _over_budget(session, waiting, str(error), is_own=never, now=now)
    return _begin(session, waiting, _planned(session, content, planned), found, planned, now)


def _own_left(session: ReadSession, waiting: StoredConfirm, budget: Budget) -> Cost:
    """Return what is left of the budget of one event, less what its other confirms have cost."""
    spent = NOTHING_SPENT
    for each in confirms.of_event(session, waiting.event_id):
        spent = spent.plus(each.spent)
    return budget.each.less(spent)


def _over_budget(
    session: WriteSession, waiting: StoredConfirm, words: str, *, is_own: bool, now: datetime
) -> StoredConfirm:
    """Wait for another night, or end where no night would pay for it."""
    reason = f"over budget: {words}"
    if is_own or now - waiting.asked_at > PATIENCE:
        return conclude_confirm(
            session, waiting, Outcome.INCONCLUSIVE, by=Ending.BUDGET, reason=reason, now=now
        )
    still = replace(waiting, reason=reason, changed_at=now)
    confirms.change(session, still)
    return still


def _is_cold(session: ReadSession, waiting: StoredConfirm, now: datetime) -> bool:
    """Return whether a stack was not started on the host lately, so that its caches may be cold."""
    both = {waiting.baseline_stack_key, waiting.candidate_stack_key}
    started = launches.last_started(session, both, host=waiting.host)
    return any(now - started[key] > WARM if key in started else True for key in both)


def _planned(session: ReadSession, content: ConfirmContent, planned: Design) -> ConfirmContent:
    keys = {suspect.cell.condition_key for suspect in planned.suspects}
    titles = {key: title(under) for key, under in conditions.by_key(session, keys).items()}
    cells = tuple(
        ConfirmCell(
            condition_key=suspect.cell.condition_key,
            protocol_key=suspect.cell.protocol_key,
            title=titles[suspect.cell.condition_key],
            metric=suspect.metric,
            evidence=suspect.evidence,
            suspected=suspect.change,
        )
        for suspect in planned.suspects
    )
    update = {
        "cells": cells,
        "counts": planned.counts,
        "burn_in": planned.burn_in,
        "each_card_s": planned.each,
    }
    return content.model_copy(update=update)


def _begin(
    session: WriteSession,
    waiting: StoredConfirm,
    content: ConfirmContent,
    found: Sequence[Measurable],
    planned: Design,
    now: datetime,
) -> StoredConfirm:
    """Queue the launches. Their order is drawn from the confirm's id, which nobody chose."""
    draw = random.Random(waiting.id.int).randrange  # noqa: S311 — an order, and no secret
    chosen = [each for each in found if each.suspect in planned.suspects]
    order = order_of(session, waiting, planned, chosen, draw=draw)
    session_id = submit_session(session, order, idempotency_key=f"confirm/{waiting.id}", now=now)
    begun = replace(
        waiting,
        state=State.RUNNING,
        session_id=session_id,
        reason=f"at most {planned.cost.launches} launches in turn on {waiting.host}",
        content=content.model_dump(mode="json"),
        planned_launches=planned.cost.launches,
        planned_card_s=planned.cost.card_s,
        changed_at=now,
        started_at=now,
    )
    confirms.change(session, begun)
    return begun


def _nothing(
    session: WriteSession, waiting: StoredConfirm, reason: str, now: datetime
) -> StoredConfirm:
    return conclude_confirm(
        session, waiting, Outcome.INCONCLUSIVE, by=Ending.NOTHING, reason=reason, now=now
    )
