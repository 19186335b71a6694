"""Queries that keep, change and return attributions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import insert, select, update

from service.store.database import ReadSession, WriteSession
from service.store.tables import AttributionRow


@dataclass(frozen=True, slots=True)
class StoredAttribution:
    """An attribution as it lies in the database."""

    id: UUID
    incident_id: UUID | None
    good_stack_key: str
    bad_stack_key: str
    state: str
    budget_card_s: float | None
    launches: int
    card_s: float
    content: Mapping[str, Any]
    started_at: datetime
    started_by: str
    changed_at: datetime


class UnknownAttributionError(LookupError):
    """No attribution has that id."""

    def __init__(self, attribution_id: UUID) -> None:
        super().__init__(f"no attribution {attribution_id}")


def keep(session: WriteSession, new: StoredAttribution) -> None:
    """Store a new attribution."""
    session.execute(insert(AttributionRow).values(**_row(new)))


def change(session: WriteSession, changed: StoredAttribution) -> None:
    """Store how far an attribution is."""
    session.execute(
        update(AttributionRow)
        .where(AttributionRow.id == changed.id)
        .values(**_row(changed))
        .execution_options(synchronize_session=False)
    )


def find(session: ReadSession, attribution_id: UUID) -> StoredAttribution | None:
    """Return one attribution, or None."""
    row = session.scalar(select(AttributionRow).where(AttributionRow.id == attribution_id))
    return None if row is None else _stored(row)


def read(session: ReadSession, attribution_id: UUID) -> StoredAttribution:
    """Return one attribution. Raises UnknownAttributionError."""
    found = find(session, attribution_id)
    if found is None:
        raise UnknownAttributionError(attribution_id)
    return found


def newest(
    session: ReadSession, *, incident_id: UUID | None, limit: int
) -> Sequence[StoredAttribution]:
    """Return attributions, of one incident or of all, the newest begun first."""
    query = select(AttributionRow)
    if incident_id is not None:
        query = query.where(AttributionRow.incident_id == incident_id)
    ordered = query.order_by(AttributionRow.started_at.desc(), AttributionRow.id.desc())
    return [_stored(row) for row in session.scalars(ordered.limit(limit))]


def _row(attribution: StoredAttribution) -> dict[str, Any]:
    row = {name: getattr(attribution, name) for name in StoredAttribution.__dataclass_fields__}
    return {**row, "content": dict(attribution.content)}


def _stored(row: AttributionRow) -> StoredAttribution:
    return StoredAttribution(
        **{name: getattr(row, name) for name in StoredAttribution.__dataclass_fields__}
    )
