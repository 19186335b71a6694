"""Gates in CI, waivers, and when a token was last used."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)
DOCUMENT = sa.JSON(none_as_null=True).with_variant(
    postgresql.JSONB(none_as_null=True), "postgresql"
)


def upgrade() -> None:
    """Create the tables; a token that was made before was last used at a time nobody noted."""
    op.create_table(
        "gate",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("session_id", sa.Uuid(), nullable=False),
        sa.Column("content", DOCUMENT, nullable=False),
        sa.Column("stops", DOCUMENT, nullable=False),
        sa.Column("asked_by", sa.Text(), nullable=False),
        sa.Column("asked_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"], ["session.id"], name=op.f("fk_gate_session_id_session")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_gate")),
        sa.UniqueConstraint("session_id", name=op.f("uq_gate_session_id")),
    )
    op.create_index(op.f("ix_gate_asked_at_id"), "gate", ["asked_at", "id"], unique=False)
    op.create_table(
        "waiver",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("plan", sa.Text(), nullable=False),
        sa.Column("condition_key", sa.Text(), nullable=True),
        sa.Column("metric", sa.Text(), nullable=True),
        sa.Column("stack_key", sa.Text(), nullable=True),
        sa.Column("until", MOMENT, nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("made_at", MOMENT, nullable=False),
        sa.Column("revoked_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(
            ["condition_key"], ["condition.key"], name=op.f("fk_waiver_condition_key_condition")
        ),
        sa.ForeignKeyConstraint(
            ["stack_key"], ["stack.key"], name=op.f("fk_waiver_stack_key_stack")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_waiver")),
    )
    op.create_index(op.f("ix_waiver_plan_until"), "waiver", ["plan", "until"], unique=False)
    op.add_column("token", sa.Column("last_used_at", MOMENT, nullable=True))


def downgrade() -> None:
    """Drop the tables; the sessions that gates ordered stay."""
    op.drop_column("token", "last_used_at")
    op.drop_table("waiver")
    op.drop_table("gate")
