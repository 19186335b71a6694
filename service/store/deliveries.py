"""Queries that keep, change and return the deliveries of notifications."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Select, select, update

from service.domain.notification import Delivery, DeliveryState, NotificationKind
from service.store.database import ReadSession, WriteSession
from service.store.inserts import insert_absent
from service.store.tables import DeliveryRow


def keep(session: WriteSession, deliveries: Sequence[Delivery]) -> None:
    """Store new deliveries; a webhook is told of one thing once."""
    insert_absent(session, DeliveryRow, [_row(each) for each in deliveries])


def change(session: WriteSession, delivery: Delivery) -> None:
    """Store what a delivery has become."""
    session.execute(
        update(DeliveryRow)
        .where(DeliveryRow.id == delivery.id)
        .values(_row(delivery))
        .execution_options(synchronize_session=False)
    )


def due(session: ReadSession, *, now: datetime, limit: int) -> Sequence[Delivery]:
    """Return the deliveries whose next try has come, the one that waits longest first."""
    query = select(DeliveryRow.__table__).where(DeliveryRow.next_at <= now)
    return _all(session, query.order_by(DeliveryRow.next_at, DeliveryRow.id).limit(limit))


def take(session: WriteSession, delivery_ids: Sequence[UUID], *, now: datetime) -> Sequence[UUID]:
    """Return those of some deliveries that are due still, held until this session ends.

    Two sweeps at one time, each with its own connection, never take the same one.
    """
    query = (
        select(DeliveryRow.id)
        .where(DeliveryRow.id.in_(delivery_ids), DeliveryRow.next_at <= now)
        .with_for_update(skip_locked=True)
    )
    return list(session.scalars(query))


def newest(session: ReadSession, *, webhook_id: UUID | None, limit: int) -> Sequence[Delivery]:
    """Return deliveries of a webhook, or of all, the newest made first."""
    query = select(DeliveryRow.__table__)
    if webhook_id is not None:
        query = query.where(DeliveryRow.webhook_id == webhook_id)
    order = DeliveryRow.made_at.desc(), DeliveryRow.id
    return _all(session, query.order_by(*order).limit(limit))


def _row(delivery: Delivery) -> dict[str, Any]:
    return {
        **asdict(delivery),
        "kind": delivery.kind.value,
        "state": delivery.state.value,
        "facts": dict(delivery.facts),
    }


def _all(session: ReadSession, query: Select[Any]) -> Sequence[Delivery]:
    return [
        Delivery(
            id=row["id"],
            webhook_id=row["webhook_id"],
            notification_id=row["notification_id"],
            kind=NotificationKind(row["kind"]),
            facts=row["facts"],
            made_at=row["made_at"],
            state=DeliveryState(row["state"]),
            attempts=row["attempts"],
            next_at=row["next_at"],
            sent_at=row["sent_at"],
            last_error=row["last_error"],
        )
        for row in session.execute(query).mappings()
    ]
