"""The tables of how baselines move: every move, the cells it moved, and the rules of channels."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from service.store.columns import Table


class BaselineMoveRow(Table):
    """One act on the baselines of a channel. undoes: the move that it takes back."""

    __tablename__ = "baseline_move"
    __table_args__ = (Index(None, "channel", "made_at", "id"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    channel: Mapped[str]
    kind: Mapped[str]
    made_at: Mapped[datetime]
    made_by: Mapped[str]
    why: Mapped[str]
    release: Mapped[str | None]
    incident_id: Mapped[UUID | None] = mapped_column(ForeignKey("incident.id"))
    rule_id: Mapped[UUID | None] = mapped_column(ForeignKey("baseline_rule.id"))
    undoes: Mapped[UUID | None] = mapped_column(ForeignKey("baseline_move.id"))


class BaselineMovedRow(Table):
    """A cell of a move: the pin in force before it, and the one after it; None for none."""

    __tablename__ = "baseline_moved"

    move_id: Mapped[UUID] = mapped_column(ForeignKey("baseline_move.id"), primary_key=True)
    condition_key: Mapped[str] = mapped_column(ForeignKey("condition.key"), primary_key=True)
    protocol_key: Mapped[str] = mapped_column(ForeignKey("protocol.key"), primary_key=True)
    before_id: Mapped[UUID | None] = mapped_column(ForeignKey("baseline.id"))
    after_id: Mapped[UUID | None] = mapped_column(ForeignKey("baseline.id"))


class BaselineRuleRow(Table):
    """A channel's rule: the first accepted run of stacks so named becomes a cell's baseline."""

    __tablename__ = "baseline_rule"
    __table_args__ = (
        Index(
            "uq_baseline_rule_in_force",
            "channel",
            unique=True,
            postgresql_where=text("ended_at IS NULL"),
            sqlite_where=text("ended_at IS NULL"),
        ),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    channel: Mapped[str]
    stacks: Mapped[str]
    why: Mapped[str]
    made_by: Mapped[str]
    made_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
