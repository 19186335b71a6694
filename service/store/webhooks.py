"""Queries that keep, end and return webhooks."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Select, func, insert, select, update

from service.domain.notification import DeliveryState, NotificationKind, Webhook, WebhookForm
from service.store.database import ReadSession, WriteSession
from service.store.tables import DeliveryRow, WebhookRow

# As many webhooks as are told, or shown.
MOST = 200


@dataclass(frozen=True, slots=True)
class Delivered:
    """How a webhook's deliveries stand. last_error: of the newest that was not taken."""

    waiting: int = 0
    given_up: int = 0
    last_sent_at: datetime | None = None
    last_error: str | None = None


class UnknownWebhookError(LookupError):
    """No webhook has that id."""

    def __init__(self, webhook_id: UUID) -> None:
        super().__init__(f"no webhook {webhook_id}; `kunline notify list` shows them")


def keep(session: WriteSession, webhook: Webhook) -> None:
    """Store a new webhook."""
    kinds = sorted(kind.value for kind in webhook.kinds)
    row = {**asdict(webhook), "form": webhook.form.value, "kinds": kinds}
    session.execute(insert(WebhookRow).values(row))


def remove(session: WriteSession, webhook_id: UUID, *, now: datetime) -> None:
    """Tell a webhook nothing any more, and forget its address and its secret."""
    session.execute(
        update(WebhookRow)
        .where(WebhookRow.id == webhook_id, WebhookRow.removed_at.is_(None))
        .values(removed_at=now, address="", secret=None)
        .execution_options(synchronize_session=False)
    )


def read(session: ReadSession, webhook_id: UUID) -> Webhook:
    """Return one webhook. Raises UnknownWebhookError."""
    found = _all(session, select(WebhookRow.__table__).where(WebhookRow.id == webhook_id))
    if not found:
        raise UnknownWebhookError(webhook_id)
    return found[0]


def told(session: ReadSession) -> Sequence[Webhook]:
    """Return the webhooks that are told, by name."""
    query = select(WebhookRow.__table__).where(WebhookRow.removed_at.is_(None))
    return _all(session, query.order_by(WebhookRow.name).limit(MOST))


def newest(session: ReadSession) -> Sequence[Webhook]:
    """Return every webhook, also those that were removed, the newest first."""
    query = select(WebhookRow.__table__)
    return _all(session, query.order_by(WebhookRow.made_at.desc(), WebhookRow.id).limit(MOST))


def delivered(session: ReadSession) -> Mapping[UUID, Delivered]:
    """Return how the deliveries of each webhook stand."""
    counted = {
        (webhook_id, state): count
        for webhook_id, state, count in session.execute(
            select(DeliveryRow.webhook_id, DeliveryRow.state, func.count()).group_by(
                DeliveryRow.webhook_id, DeliveryRow.state
            )
        )
    }
    sent = session.execute(
        select(DeliveryRow.webhook_id, func.max(DeliveryRow.sent_at)).group_by(
            DeliveryRow.webhook_id
        )
    )
    errors = _last_errors(session)
    return {
        webhook_id: Delivered(
            waiting=counted.get((webhook_id, DeliveryState.WAITING.value), 0),
            given_up=counted.get((webhook_id, DeliveryState.GIVEN_UP.value), 0),
            last_sent_at=last_sent_at,
            last_error=errors.get(webhook_id),
        )
        for webhook_id, last_sent_at in sent
    }


def _last_errors(session: ReadSession) -> Mapping[UUID, str]:
    """Return what went wrong with the newest delivery of each webhook that is not sent."""
    place = func.row_number().over(
        partition_by=DeliveryRow.webhook_id, order_by=DeliveryRow.made_at.desc()
    )
    wrong = (
        select(DeliveryRow.webhook_id, DeliveryRow.last_error, place.label("place"))
        .where(DeliveryRow.last_error.is_not(None), DeliveryRow.state != DeliveryState.SENT.value)
        .subquery()
    )
    rows = session.execute(select(wrong).where(wrong.c.place == 1)).mappings()
    return {row["webhook_id"]: row["last_error"] for row in rows}


def _all(session: ReadSession, query: Select[Any]) -> list[Webhook]:
    return [
        Webhook(
            id=row["id"],
            name=row["name"],
            form=WebhookForm(row["form"]),
            address=row["address"],
            secret=row["secret"],
            kinds=frozenset(map(NotificationKind, row["kinds"])),
            language=row["language"],
            made_at=row["made_at"],
            made_by=row["made_by"],
            removed_at=row["removed_at"],
        )
        for row in session.execute(query).mappings()
    ]
