"""The tables of the compatibility table: told from stored runs, and emptied without loss."""

from datetime import date, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from service.store.columns import Table


class CompatRow(Table):
    """One stack in one cell; see service.domain.compat. All of it can be told again."""

    __tablename__ = "compat"
    __table_args__ = (Index(None, "condition_key", "stack_key"),)

    stack_key: Mapped[str] = mapped_column(primary_key=True)
    condition_key: Mapped[str] = mapped_column(primary_key=True)
    protocol_key: Mapped[str] = mapped_column(primary_key=True)
    card_model: Mapped[str]
    model: Mapped[str]
    state: Mapped[str]
    told: Mapped[dict[str, Any]]


class CompatStackRow(Table):
    """One stack for one model on one kind of card: its cells together.

    A stack without a run in any cell has one row without a model. built_at: of the stack, here
    again because it orders every page.
    """

    __tablename__ = "compat_stack"
    __table_args__ = (
        Index(None, "built_at", "stack_key", "card_model", "model"),
        Index(None, "model", "card_model", "built_at"),
    )

    stack_key: Mapped[str] = mapped_column(primary_key=True)
    card_model: Mapped[str] = mapped_column(primary_key=True)
    model: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    chip: Mapped[str]
    built_at: Mapped[date]
    state: Mapped[str]
    measured_at: Mapped[datetime | None]
    told: Mapped[dict[str, Any]]


class CompatComponentRow(Table):
    """One pinned component of a stack, to be asked for by name and version."""

    __tablename__ = "compat_component"
    __table_args__ = (Index(None, "name", "version", "stack_key"),)

    stack_key: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[str]


class CompatToldRow(Table):
    """A stack that the table tells of as it is now; one that is not here is told anew."""

    __tablename__ = "compat_told"

    stack_key: Mapped[str] = mapped_column(primary_key=True)
    rule: Mapped[str]
    told_at: Mapped[datetime]


class CompatAskRow(Table):
    """An upgrade that somebody asked about: how often, when last, and what was answered."""

    __tablename__ = "compat_ask"
    __table_args__ = (Index(None, "asked_at"),)

    digest: Mapped[str] = mapped_column(primary_key=True)
    question: Mapped[dict[str, Any]]
    answer: Mapped[str]
    times: Mapped[int]
    asked_at: Mapped[datetime]


class DeclaredRow(Table):
    """A constraint that somebody declared, with its source; one taken back stays as history."""

    __tablename__ = "declared"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(index=True)
    content: Mapped[dict[str, Any]]
    declared_at: Mapped[datetime]
    declared_by: Mapped[str]
    ended_at: Mapped[datetime | None]


class QualificationRow(Table):
    """An upgrade as a procedure: where it stands, and what was done in each step."""

    __tablename__ = "qualification"
    __table_args__ = (Index(None, "created_at"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    from_stack_key: Mapped[str] = mapped_column(ForeignKey("stack.key"))
    to_stack_key: Mapped[str] = mapped_column(ForeignKey("stack.key"))
    state: Mapped[str]
    content: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]
    created_by: Mapped[str]
    changed_at: Mapped[datetime]
