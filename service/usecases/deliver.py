"""Deliver: which notifications are due, what each is sent as, and what became of it.

The connection is opened by whoever calls, between two commits: a webhook that hangs holds nothing.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from service.domain.notification import RETRYING, Delivery, DeliveryState, Webhook
from service.formats.webhook_bodies import Outgoing, Sending, outgoing
from service.formats.webhooks import FROM_ENVIRONMENT, require_address
from service.store import deliveries, webhooks
from service.store.database import ReadSession, WriteSession
from service.usecases.judge_session import judge_session

# So long a delivery that was taken is left to whoever took it, should that process die.
TAKEN = timedelta(minutes=2)
# As much of what went wrong as is kept.
WORDS_MAX = 300


class AbsentVariableError(LookupError):
    """A webhook's address or secret is in a variable that the sending process does not have."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} is not set where notifications are sent: set it for the worker")


@dataclass(frozen=True, slots=True)
class Due:
    """A delivery that was taken to be sent, and the webhook that it goes to."""

    delivery: Delivery
    webhook: Webhook

    def request(self, environ: Mapping[str, str], *, base: str, at: datetime) -> Outgoing:
        """Return what is sent. Raises AbsentVariableError, and ValueError for a wrong address."""
        address = require_address(_value(self.webhook.address, environ))
        secret = None if self.webhook.secret is None else _value(self.webhook.secret, environ)
        sending = Sending(address=address, secret=secret, at=at, base=base)
        return outgoing(self.webhook, self.delivery, sending)


def due_deliveries(session: ReadSession, *, now: datetime, limit: int) -> Sequence[Delivery]:
    """Return the deliveries that are due, with what is to be told of a night."""
    found = deliveries.due(session, now=now, limit=limit)
    nights = {each.facts["id"] for each in found if _is_untold(each)}
    told = {night: _told_of(session, UUID(night)) for night in nights}
    return [
        replace(each, facts={**each.facts, **told[each.facts["id"]]}) if _is_untold(each) else each
        for each in found
    ]


def take_deliveries(
    session: WriteSession, found: Sequence[Delivery], *, now: datetime
) -> Sequence[Due]:
    """Take deliveries that nobody else took meanwhile, and return them with their webhooks.

    Each counts as tried from here on: a process that dies while it sends has tried.
    """
    held = set(deliveries.take(session, [each.id for each in found], now=now))
    taken = []
    for each in found:
        if each.id not in held:
            continue
        webhook = webhooks.read(session, each.webhook_id)
        if webhook.removed_at is not None:
            _give_up(session, each, "the webhook was removed")
            continue
        tried = replace(each, attempts=each.attempts + 1, next_at=now + TAKEN)
        deliveries.change(session, tried)
        taken.append(Due(tried, webhook))
    return taken


def settle_delivery(
    session: WriteSession, delivery: Delivery, *, error: str | None, now: datetime
) -> None:
    """Keep what became of a try: sent, tried again after a pause, or given up.

    error: why it was not taken; None where it was.
    """
    if error is None:
        done = replace(
            delivery, state=DeliveryState.SENT, sent_at=now, next_at=None, last_error=None
        )
        deliveries.change(session, done)
        return
    pause = RETRYING.pause_after(delivery.attempts)
    if pause is None:
        _give_up(session, delivery, error)
    else:
        again = replace(delivery, next_at=now + pause, last_error=error[:WORDS_MAX])
        deliveries.change(session, again)


def _give_up(session: WriteSession, delivery: Delivery, error: str) -> None:
    over = replace(
        delivery, state=DeliveryState.GIVEN_UP, next_at=None, last_error=error[:WORDS_MAX]
    )
    deliveries.change(session, over)


def _is_untold(delivery: Delivery) -> bool:
    return delivery.facts.get("noun") == "night" and "outcomes" not in delivery.facts


def _told_of(session: ReadSession, session_id: UUID) -> dict[str, Any]:
    verdicts = judge_session(session, session_id, baseline=None, looking_back=True)
    outcomes = Counter(cell.comparison.outcome.value for cell in verdicts.cells)
    creeping = sum(bool(cell.creep) for cell in verdicts.cells)
    return {"outcomes": dict(outcomes), "creeping": creeping, "outcome": verdicts.outcome.value}


def _value(text: str, environ: Mapping[str, str]) -> str:
    if not text.startswith(FROM_ENVIRONMENT):
        return text
    name = text.removeprefix(FROM_ENVIRONMENT)
    if not environ.get(name):
        raise AbsentVariableError(name)
    return environ[name]
