"""Keep webhooks: add one, test it, remove it, and show how its deliveries stand."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal
from urllib.parse import urlsplit
from uuid import UUID, uuid4

from service.domain.audit import Act, Noun
from service.domain.notification import Delivery, NotificationKind, Webhook
from service.formats import notification_words
from service.formats.webhooks import FROM_ENVIRONMENT, DeliveryRead, WebhookOrder, WebhookRead
from service.store import deliveries, webhooks
from service.store.database import ReadSession, WriteSession
from service.store.webhooks import Delivered
from service.usecases.note_act import note_act

GONE = "removed"


class WebhookTakenError(ValueError):
    """A webhook of that name is told already."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is a webhook {name}: remove it first, or take another name")


class WebhookRemovedError(ValueError):
    """A webhook was removed, so it is told nothing, not even a test."""

    def __init__(self, webhook: Webhook) -> None:
        super().__init__(f"webhook {webhook.name} was removed: add it again")


def add_webhook(
    session: WriteSession, order: WebhookOrder, *, who: str, now: datetime
) -> WebhookRead:
    """Store a webhook and return what may be shown of it. Raises WebhookTakenError."""
    if any(each.name == order.name for each in webhooks.told(session)):
        raise WebhookTakenError(order.name)
    webhook = Webhook(
        id=uuid4(),
        name=order.name,
        form=order.form,
        address=order.address,
        secret=order.secret,
        kinds=frozenset(order.kinds),
        language=order.language,
        made_at=now,
        made_by=who,
    )
    webhooks.keep(session, webhook)
    what = f"{order.name}, form {order.form}, at {_host(webhook)}: {order.why}"
    note_act(session, Act.DECLARE, Noun.WEBHOOK, webhook.id, who=who, what=what, now=now)
    return _read(webhook, {})


def remove_webhook(
    session: WriteSession, webhook_id: UUID, *, why: str, who: str, now: datetime
) -> WebhookRead:
    """Tell a webhook nothing any more, and forget its secrets. Raises UnknownWebhookError."""
    webhooks.read(session, webhook_id)
    webhooks.remove(session, webhook_id, now=now)
    note_act(session, Act.RETRACT, Noun.WEBHOOK, webhook_id, who=who, what=why, now=now)
    return _read(webhooks.read(session, webhook_id), webhooks.delivered(session))


def list_webhooks(session: ReadSession) -> tuple[WebhookRead, ...]:
    """Return every webhook, the newest first, also those that were removed."""
    stand = webhooks.delivered(session)
    return tuple(_read(each, stand) for each in webhooks.newest(session))


def queue_test(session: WriteSession, webhook_id: UUID, *, who: str, now: datetime) -> DeliveryRead:
    """Put a test on its way to one webhook, as anything else goes there.

    Raises UnknownWebhookError and WebhookRemovedError.
    """
    webhook = webhooks.read(session, webhook_id)
    if not webhook.wants(NotificationKind.TEST):
        raise WebhookRemovedError(webhook)
    delivery = Delivery(
        id=uuid4(),
        webhook_id=webhook.id,
        notification_id=uuid4(),
        kind=NotificationKind.TEST,
        facts={"name": webhook.name},
        made_at=now,
        next_at=now,
    )
    deliveries.keep(session, [delivery])
    note_act(session, Act.ORDER, Noun.WEBHOOK, webhook_id, who=who, what="a test", now=now)
    return _told([delivery], {webhook.id: webhook})[0]


def list_deliveries(
    session: ReadSession, *, webhook_id: UUID | None, limit: int
) -> tuple[DeliveryRead, ...]:
    """Return deliveries, the newest made first."""
    known = {each.id: each for each in webhooks.newest(session)}
    return _told(deliveries.newest(session, webhook_id=webhook_id, limit=limit), known)


def _told(found: Sequence[Delivery], known: Mapping[UUID, Webhook]) -> tuple[DeliveryRead, ...]:
    return tuple(
        DeliveryRead(
            id=each.id,
            webhook_id=each.webhook_id,
            webhook_name=known[each.webhook_id].name if each.webhook_id in known else GONE,
            kind=each.kind,
            title=notification_words.title(each.kind, each.facts, _language(each, known)),
            state=each.state,
            attempts=each.attempts,
            made_at=each.made_at,
            next_at=each.next_at,
            sent_at=each.sent_at,
            last_error=each.last_error,
        )
        for each in found
    )


def _language(delivery: Delivery, known: Mapping[UUID, Webhook]) -> Literal["en", "zh"]:
    webhook = known.get(delivery.webhook_id)
    return "zh" if webhook is not None and webhook.language == "zh" else "en"


def _read(webhook: Webhook, stand: Mapping[UUID, Delivered]) -> WebhookRead:
    found = stand.get(webhook.id, Delivered())
    return WebhookRead(
        id=webhook.id,
        name=webhook.name,
        form=webhook.form,
        host=_host(webhook),
        address_from="environment" if webhook.address.startswith(FROM_ENVIRONMENT) else "stored",
        signed=webhook.secret is not None,
        kinds=tuple(sorted(webhook.kinds)),
        language="zh" if webhook.language == "zh" else "en",
        made_at=webhook.made_at,
        made_by=webhook.made_by,
        removed_at=webhook.removed_at,
        waiting=found.waiting,
        given_up=found.given_up,
        last_sent_at=found.last_sent_at,
        last_error=found.last_error,
    )


def _host(webhook: Webhook) -> str:
    """Return what may be shown of an address: its path may hold a token, its host does not."""
    if webhook.address.startswith(FROM_ENVIRONMENT):
        return webhook.address
    return urlsplit(webhook.address).hostname or GONE
