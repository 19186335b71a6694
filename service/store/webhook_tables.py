"""The tables of notifications: the webhooks that are told, and what each is still to be told."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from service.store.columns import Table


class WebhookRow(Table):
    """Where notifications go. address, secret: themselves, or the variable that holds them."""

    __tablename__ = "webhook"
    __table_args__ = (
        Index(
            "uq_webhook_in_force",
            "name",
            unique=True,
            postgresql_where=text("removed_at IS NULL"),
            sqlite_where=text("removed_at IS NULL"),
        ),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str]
    form: Mapped[str]
    address: Mapped[str]
    secret: Mapped[str | None]
    kinds: Mapped[list[Any]]
    language: Mapped[str]
    made_at: Mapped[datetime]
    made_by: Mapped[str]
    removed_at: Mapped[datetime | None]


class DeliveryRow(Table):
    """A notification on its way to one webhook. next_at: of the next try; None when it is over."""

    __tablename__ = "delivery"
    __table_args__ = (
        UniqueConstraint("webhook_id", "notification_id"),
        Index(None, "next_at"),
        Index(None, "made_at", "id"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    webhook_id: Mapped[UUID] = mapped_column(ForeignKey("webhook.id"))
    notification_id: Mapped[UUID]
    kind: Mapped[str]
    facts: Mapped[dict[str, Any]]
    state: Mapped[str]
    attempts: Mapped[int]
    made_at: Mapped[datetime]
    next_at: Mapped[datetime | None]
    sent_at: Mapped[datetime | None]
    last_error: Mapped[str | None]
