"""The tables of what people do to runs: import them, withdraw them, and the audit of it all."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from service.store.columns import Table


class ImportRow(Table):
    """One call that brought results measured elsewhere, and what it was answered with."""

    __tablename__ = "import"
    __table_args__ = (Index(None, "stored_at", "id"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    stored_at: Mapped[datetime]
    imported_by: Mapped[str]
    answer: Mapped[dict[str, Any]]


class ImportedRunRow(Table):
    """What is known of a run that was measured elsewhere, beside the run itself.

    digest, position: SHA-256 of the tool's own text of the result, and which of the results in
    that text it is; together they say whether a result is stored already. replaced_at: when the
    same text was stored again under a corrected condition; None for the one that stands.
    dated_by: where its time comes from. told, resolution: what the file itself tells.
    """

    __tablename__ = "imported_run"
    __table_args__ = (
        Index(
            "uq_imported_run_result",
            "digest",
            "position",
            unique=True,
            postgresql_where=text("replaced_at IS NULL"),
            sqlite_where=text("replaced_at IS NULL"),
        ),
        Index(None, "import_id"),
    )

    run_id: Mapped[UUID] = mapped_column(ForeignKey("run.id"), primary_key=True)
    import_id: Mapped[UUID] = mapped_column(ForeignKey("import.id"))
    digest: Mapped[str]
    position: Mapped[int]
    file: Mapped[str]
    line: Mapped[int]
    tool: Mapped[str]
    tool_version: Mapped[str | None]
    definition: Mapped[int]
    dated_by: Mapped[str]
    told: Mapped[dict[str, Any]]
    resolution: Mapped[dict[str, Any]]
    replaced_at: Mapped[datetime | None]


class WithdrawalRow(Table):
    """A run that a person took out of every judgement; the audit keeps it when it is taken back."""

    __tablename__ = "withdrawal"

    run_id: Mapped[UUID] = mapped_column(ForeignKey("run.id"), primary_key=True)
    withdrawn_at: Mapped[datetime]
    withdrawn_by: Mapped[str]
    reason: Mapped[str]
    replaced_by: Mapped[UUID | None] = mapped_column(ForeignKey("run.id"))


class AuditRow(Table):
    """Who did what to which thing, when and why, and what it was before and after.

    number: counts up, so that acts of one moment keep their order.
    """

    __tablename__ = "audit"
    __table_args__ = (Index(None, "noun", "noun_id"), Index(None, "at"))

    number: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    actor: Mapped[str]
    act: Mapped[str]
    noun: Mapped[str]
    noun_id: Mapped[str]
    reason: Mapped[str]
    before: Mapped[dict[str, Any] | None]
    after: Mapped[dict[str, Any] | None]
