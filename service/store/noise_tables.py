"""The tables of noise: what each session tells of three variances, and how often that changed."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from service.store.columns import Table


class NoiseRow(Table):
    """The squares of one metric of a cell in one session, over launches of like stacks alone.

    Sums of squares of log values, their degrees of freedom, and how often the effect's variance is
    in their expectation: sessions add up, and one can be left out. run_ids: what it rests on.
    """

    __tablename__ = "noise"
    __table_args__ = (Index(None, "condition_key", "protocol_key", "host"),)

    session_id: Mapped[UUID] = mapped_column(ForeignKey("session.id"), primary_key=True)
    condition_key: Mapped[str] = mapped_column(ForeignKey("condition.key"), primary_key=True)
    protocol_key: Mapped[str] = mapped_column(ForeignKey("protocol.key"), primary_key=True)
    metric: Mapped[str] = mapped_column(primary_key=True)
    host: Mapped[str]
    launch_squares: Mapped[float]
    launch_freedom: Mapped[float]
    launch_coefficient: Mapped[float]
    seed_squares: Mapped[float]
    seed_freedom: Mapped[float]
    seed_coefficient: Mapped[float]
    residual_squares: Mapped[float]
    residual_freedom: Mapped[float]
    launches: Mapped[int]
    run_ids: Mapped[list[Any]]
    measured_at: Mapped[datetime]


class NoiseVersionRow(Table):
    """How often anything was told of the noise of a cell on a host.

    Whatever rests on the noise need not count what very many sessions tell, to see that it changed.
    """

    __tablename__ = "noise_version"

    condition_key: Mapped[str] = mapped_column(ForeignKey("condition.key"), primary_key=True)
    protocol_key: Mapped[str] = mapped_column(ForeignKey("protocol.key"), primary_key=True)
    host: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[int]
