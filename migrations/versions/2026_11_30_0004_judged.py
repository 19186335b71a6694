"""What was judged, so that a page need not judge a thousand cells anew; and runs by their stack."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)
DOCUMENT = sa.JSON(none_as_null=True).with_variant(
    postgresql.JSONB(none_as_null=True), "postgresql"
)


def upgrade() -> None:
    """Create the table; it fills as people look."""
    op.create_table(
        "judged",
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("rests_on", sa.Text(), nullable=False),
        sa.Column("answer", DOCUMENT, nullable=False),
        sa.Column("judged_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("subject", name=op.f("pk_judged")),
    )
    op.create_index(op.f("ix_judged_judged_at"), "judged", ["judged_at"], unique=False)
    op.create_index(
        op.f("ix_run_stack_key_condition_key_protocol_key_host"),
        "run",
        ["stack_key", "condition_key", "protocol_key", "host"],
        unique=False,
    )


def downgrade() -> None:
    """Drop the table; all of it can be judged again."""
    op.drop_index(op.f("ix_run_stack_key_condition_key_protocol_key_host"), table_name="run")
    op.drop_table("judged")
