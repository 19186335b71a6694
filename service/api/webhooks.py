"""Routes of webhooks: where notifications go, and how those on their way stand."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from service.api.access import MayAdminister, MayRead
from service.api.callers import name_of
from service.api.door import Opened
from service.formats.webhooks import DeliveryRead, WebhookOrder, WebhookRead, WebhookRemoval
from service.usecases.keep_webhook import (
    add_webhook,
    list_deliveries,
    list_webhooks,
    queue_test,
    remove_webhook,
)

router = APIRouter(prefix="/webhooks", tags=["webhooks"])


@router.get("")
def read_all(door: Opened, _: MayRead) -> tuple[WebhookRead, ...]:
    """Return every webhook, without its address and secret, and how its deliveries stand."""
    with door.reading() as session:
        return list_webhooks(session)


@router.post("", status_code=201)
def add(door: Opened, caller: MayAdminister, order: WebhookOrder) -> WebhookRead:
    """Let a webhook be told of incidents and verdicts; its secrets are never answered again."""
    who = name_of(caller, order.who)
    with door.writing() as session:
        return add_webhook(session, order, who=who, now=door.now())


@router.get("/deliveries")
def read_deliveries(
    door: Opened,
    _: MayRead,
    webhook_id: UUID | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> tuple[DeliveryRead, ...]:
    """Return what was or is to be told, the newest first."""
    with door.reading() as session:
        return list_deliveries(session, webhook_id=webhook_id, limit=limit)


@router.post("/{webhook_id}/test", status_code=202)
def test(door: Opened, caller: MayAdminister, webhook_id: UUID) -> DeliveryRead:
    """Put a test on its way; the worker sends it within seconds, and its delivery tells."""
    with door.writing() as session:
        return queue_test(session, webhook_id, who=name_of(caller, None), now=door.now())


@router.post("/{webhook_id}/removal")
def remove(
    door: Opened, caller: MayAdminister, webhook_id: UUID, order: WebhookRemoval
) -> WebhookRead:
    """Tell a webhook nothing any more, and forget its address and secret."""
    who = name_of(caller, order.who)
    with door.writing() as session:
        return remove_webhook(session, webhook_id, why=order.why, who=who, now=door.now())
