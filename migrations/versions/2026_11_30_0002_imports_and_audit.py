"""Runs measured elsewhere, runs that were withdrawn, and the audit of what people did."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)
DOCUMENT = sa.JSON(none_as_null=True).with_variant(
    postgresql.JSONB(none_as_null=True), "postgresql"
)


def upgrade() -> None:
    """Create the tables; those that others refer to come first."""
    _create_imports()
    _create_withdrawals()
    _create_audit()


def downgrade() -> None:
    """Drop the tables; runs that were imported stay, as runs without a job."""
    for name in ("audit", "withdrawal", "imported_run", "import"):
        op.drop_table(name)


def _create_imports() -> None:
    """Create imports, and what is known of each imported run."""
    op.create_table(
        "import",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("stored_at", MOMENT, nullable=False),
        sa.Column("imported_by", sa.Text(), nullable=False),
        sa.Column("answer", DOCUMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_import")),
    )
    op.create_index(op.f("ix_import_stored_at_id"), "import", ["stored_at", "id"], unique=False)
    op.create_table(
        "imported_run",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("import_id", sa.Uuid(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("line", sa.Integer(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("tool_version", sa.Text(), nullable=True),
        sa.Column("definition", sa.Integer(), nullable=False),
        sa.Column("dated_by", sa.Text(), nullable=False),
        sa.Column("told", DOCUMENT, nullable=False),
        sa.Column("resolution", DOCUMENT, nullable=False),
        sa.Column("replaced_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(
            ["import_id"], ["import.id"], name=op.f("fk_imported_run_import_id")
        ),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_imported_run_run_id")),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_imported_run")),
    )
    op.create_index(op.f("ix_imported_run_import_id"), "imported_run", ["import_id"], unique=False)
    op.create_index(
        "uq_imported_run_result",
        "imported_run",
        ["digest", "position"],
        unique=True,
        postgresql_where=sa.text("replaced_at IS NULL"),
        sqlite_where=sa.text("replaced_at IS NULL"),
    )


def _create_withdrawals() -> None:
    """Create withdrawals: one a run, while it is in force."""
    op.create_table(
        "withdrawal",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("withdrawn_at", MOMENT, nullable=False),
        sa.Column("withdrawn_by", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("replaced_by", sa.Uuid(), nullable=True),
        sa.ForeignKeyConstraint(
            ["replaced_by"], ["run.id"], name=op.f("fk_withdrawal_replaced_by")
        ),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_withdrawal_run_id")),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_withdrawal")),
    )


def _create_audit() -> None:
    """Create the audit."""
    op.create_table(
        "audit",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("act", sa.Text(), nullable=False),
        sa.Column("noun", sa.Text(), nullable=False),
        sa.Column("noun_id", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("before", DOCUMENT, nullable=True),
        sa.Column("after", DOCUMENT, nullable=True),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_audit")),
    )
    op.create_index(op.f("ix_audit_at"), "audit", ["at"], unique=False)
    op.create_index(op.f("ix_audit_noun_noun_id"), "audit", ["noun", "noun_id"], unique=False)
