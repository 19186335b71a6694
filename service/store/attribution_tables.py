"""The table of attributions: searches for the component that moved a number."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from service.store.columns import Table


class AttributionRow(Table):
    """One search. content: the answer so far; it follows from the sessions that it names."""

    __tablename__ = "attribution"
    __table_args__ = (Index(None, "incident_id"), Index(None, "started_at", "id"))

    id: Mapped[UUID] = mapped_column(primary_key=True)
    incident_id: Mapped[UUID | None] = mapped_column(ForeignKey("incident.id"))
    good_stack_key: Mapped[str] = mapped_column(ForeignKey("stack.key"))
    bad_stack_key: Mapped[str] = mapped_column(ForeignKey("stack.key"))
    state: Mapped[str]
    budget_card_s: Mapped[float | None]
    launches: Mapped[int]
    card_s: Mapped[float]
    content: Mapped[dict[str, Any]]
    started_at: Mapped[datetime]
    started_by: Mapped[str]
    changed_at: Mapped[datetime]
