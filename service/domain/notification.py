"""The notification: what people are told without asking, by which webhook, and how often tried."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID


class NotificationKind(StrEnum):
    """The closed list of what is announced. verdict: of a confirm that ended, and of a night."""

    OPENED = "incident opened"
    ANSWERED = "incident answered"
    FIXED = "incident fixed"
    VERDICT = "verdict"
    TEST = "test"


class WebhookForm(StrEnum):
    """How a webhook wants to be told: our own signed document, or as a chat's robot."""

    KUNLINE = "kunline"
    FEISHU = "feishu"
    DINGTALK = "dingtalk"
    WECOM = "wecom"


class DeliveryState(StrEnum):
    """Where a notification is on its way to a webhook."""

    WAITING = "waiting"
    SENT = "sent"
    GIVEN_UP = "given up"


@dataclass(frozen=True, slots=True)
class Webhook:
    """Where notifications go, and which.

    address, secret: themselves, or `env:` and the variable of the sending process that has them.
    secret: None where nothing is signed. removed_at: None while it is told.
    """

    id: UUID
    name: str
    form: WebhookForm
    address: str
    secret: str | None
    kinds: frozenset[NotificationKind]
    language: str
    made_at: datetime
    made_by: str
    removed_at: datetime | None = None

    def wants(self, kind: NotificationKind) -> bool:
        """Return whether it is told of a kind; a test is asked for by name."""
        return self.removed_at is None and (kind is NotificationKind.TEST or kind in self.kinds)


@dataclass(frozen=True, slots=True)
class Delivery:
    """A notification on its way to one webhook. next_at: of the next try, None when it is over.

    notification_id: the same for every webhook that is told of one thing. facts: as JSON has them.
    """

    id: UUID
    webhook_id: UUID
    notification_id: UUID
    kind: NotificationKind
    facts: Mapping[str, Any]
    made_at: datetime
    state: DeliveryState = DeliveryState.WAITING
    attempts: int = 0
    next_at: datetime | None = None
    sent_at: datetime | None = None
    last_error: str | None = None


@dataclass(frozen=True, slots=True)
class Retrying:
    """How often a delivery is tried, and the pause after the first try; each later one doubles."""

    tries: int = 8
    first_pause: timedelta = timedelta(seconds=30)

    def pause_after(self, attempts: int) -> timedelta | None:
        """Return how long is waited after so many tries, or None where there is no other."""
        if attempts >= self.tries:
            return None
        return self.first_pause * (1 << (attempts - 1))


RETRYING = Retrying()
