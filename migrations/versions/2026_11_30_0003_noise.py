"""What each session tells of the variances of launch, seed and residual."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)
DOCUMENT = sa.JSON(none_as_null=True).with_variant(
    postgresql.JSONB(none_as_null=True), "postgresql"
)
NUMBERS = (
    "launch_squares",
    "launch_freedom",
    "launch_coefficient",
    "seed_squares",
    "seed_freedom",
    "seed_coefficient",
    "residual_squares",
    "residual_freedom",
)


def upgrade() -> None:
    """Create the table; sessions of before are not in it until they are measured anew."""
    op.create_table(
        "noise",
        sa.Column("session_id", sa.Uuid(), nullable=False),
        sa.Column("condition_key", sa.Text(), nullable=False),
        sa.Column("protocol_key", sa.Text(), nullable=False),
        sa.Column("metric", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        *(sa.Column(name, sa.Float(precision=53), nullable=False) for name in NUMBERS),
        sa.Column("launches", sa.Integer(), nullable=False),
        sa.Column("run_ids", DOCUMENT, nullable=False),
        sa.Column("measured_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(
            ["condition_key"], ["condition.key"], name=op.f("fk_noise_condition_key")
        ),
        sa.ForeignKeyConstraint(
            ["protocol_key"], ["protocol.key"], name=op.f("fk_noise_protocol_key")
        ),
        sa.ForeignKeyConstraint(["session_id"], ["session.id"], name=op.f("fk_noise_session_id")),
        sa.PrimaryKeyConstraint(
            "session_id", "condition_key", "protocol_key", "metric", name=op.f("pk_noise")
        ),
    )
    op.create_index(
        op.f("ix_noise_condition_key_protocol_key_host"),
        "noise",
        ["condition_key", "protocol_key", "host"],
        unique=False,
    )


def downgrade() -> None:
    """Drop the table; all of it can be told from runs again."""
    op.drop_table("noise")
