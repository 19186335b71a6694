"""The tables of the screen: what it looked at, where it stands in each series, and what it saw."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from service.store.columns import Table


class LookRow(Table):
    """What one session, or one import, has of one stack: a row of a host's matrix.

    measured_at: of its first run. Looks are in the order in which their stacks were built.
    """

    __tablename__ = "look"
    __table_args__ = (
        UniqueConstraint("session_id", "stack_key"),
        UniqueConstraint("import_id"),
    )

    number: Mapped[int] = mapped_column(primary_key=True)
    host: Mapped[str]
    stack_key: Mapped[str] = mapped_column(ForeignKey("stack.key"))
    session_id: Mapped[UUID | None] = mapped_column(ForeignKey("session.id"))
    import_id: Mapped[UUID | None] = mapped_column(ForeignKey("import.id"))
    measured_at: Mapped[datetime]
    looked_at: Mapped[datetime]


class ScreenRow(Table):
    """Where the screen stands in one series: one metric of one cell on one host.

    recent: its newest logarithms, a rise for the worse, as little-endian float64; looks: which look
    each is of, as little-endian uint32. age: how many values are of the present level. since: the
    look at which the level of the matrix's sums begins. answer: the last one. smallest_effect: the
    smallest lasting change that would be seen, a ratio; None where none would. event_id is no
    foreign key: events are told anew when a run is withdrawn. run_id: the run seen last.
    """

    __tablename__ = "screen"
    __table_args__ = (Index(None, "host", "condition_key"), Index(None, "look"))

    condition_key: Mapped[str] = mapped_column(ForeignKey("condition.key"), primary_key=True)
    protocol_key: Mapped[str] = mapped_column(ForeignKey("protocol.key"), primary_key=True)
    metric: Mapped[str] = mapped_column(primary_key=True)
    host: Mapped[str] = mapped_column(primary_key=True)
    recent: Mapped[bytes]
    looks: Mapped[bytes]
    age: Mapped[int]
    since: Mapped[int | None]
    answer: Mapped[str]
    smallest_effect: Mapped[float | None]
    event_id: Mapped[UUID | None]
    run_id: Mapped[UUID] = mapped_column(ForeignKey("run.id"))
    look: Mapped[int] = mapped_column(ForeignKey("look.number"))
    looked_at: Mapped[datetime]


class EventRow(Table):
    """One candidate event, as it was seen on one host.

    is_host: whether the host is what moved. part_of: the event of another host with the same
    stack and direction that this is another sighting of. trigger: the series, or the group whose
    sum alarmed; metric: of the series, or of the strongest listed. change: the median of those
    listed, a ratio signed so that positive is worse. measured: how many series the look had.
    presumed: series (condition, protocol, metric) without a value in it. before_stack_key: of the
    look before the change.
    """

    __tablename__ = "event"
    __table_args__ = (
        Index(None, "seen_at", "id"),
        Index(None, "seen_look"),
        Index(None, "change_stack_key"),
        Index(None, "part_of"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    host: Mapped[str]
    is_host: Mapped[bool]
    part_of: Mapped[UUID | None]
    worse: Mapped[bool]
    trigger: Mapped[str]
    metric: Mapped[str | None]
    change: Mapped[float | None]
    measured: Mapped[int]
    presumed: Mapped[list[Any]]
    change_look: Mapped[int] = mapped_column(ForeignKey("look.number"))
    change_stack_key: Mapped[str] = mapped_column(ForeignKey("stack.key"))
    before_stack_key: Mapped[str | None] = mapped_column(ForeignKey("stack.key"))
    seen_look: Mapped[int] = mapped_column(ForeignKey("look.number"))
    seen_at: Mapped[datetime]


class MovedRow(Table):
    """A series that an event lists. change: a ratio of its value. evidence: in standard errors.

    look: the first of its new level.
    """

    __tablename__ = "moved"
    __table_args__ = (Index(None, "condition_key", "protocol_key", "metric", "host"),)

    event_id: Mapped[UUID] = mapped_column(ForeignKey("event.id"), primary_key=True)
    condition_key: Mapped[str] = mapped_column(ForeignKey("condition.key"), primary_key=True)
    protocol_key: Mapped[str] = mapped_column(ForeignKey("protocol.key"), primary_key=True)
    metric: Mapped[str] = mapped_column(primary_key=True)
    host: Mapped[str]
    change: Mapped[float]
    evidence: Mapped[float]
    look: Mapped[int] = mapped_column(ForeignKey("look.number"))
