"""Schedules: sessions that are queued every night."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)
DOCUMENT = sa.JSON(none_as_null=True).with_variant(
    postgresql.JSONB(none_as_null=True), "postgresql"
)


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "schedule",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("zone", sa.Text(), nullable=False),
        sa.Column("duplicates", sa.Integer(), nullable=False),
        sa.Column("content", DOCUMENT, nullable=False),
        sa.Column("paused", sa.Boolean(), nullable=False),
        sa.Column("since", MOMENT, nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("changed_by", sa.Text(), nullable=False),
        sa.Column("changed_at", MOMENT, nullable=False),
        sa.Column("night", sa.Date(), nullable=True),
        sa.Column("session_id", sa.Uuid(), nullable=True),
        sa.ForeignKeyConstraint(
            ["session_id"], ["session.id"], name=op.f("fk_schedule_session_id_session")
        ),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_schedule")),
    )


def downgrade() -> None:
    """Drop the table; the sessions that were queued stay."""
    op.drop_table("schedule")
