"""Attributions: searches for the component that moved a number."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)
DOCUMENT = sa.JSON(none_as_null=True).with_variant(
    postgresql.JSONB(none_as_null=True), "postgresql"
)


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "attribution",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("incident_id", sa.Uuid(), nullable=True),
        sa.Column("good_stack_key", sa.Text(), nullable=False),
        sa.Column("bad_stack_key", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("budget_card_s", sa.Float(53), nullable=True),
        sa.Column("launches", sa.Integer(), nullable=False),
        sa.Column("card_s", sa.Float(53), nullable=False),
        sa.Column("content", DOCUMENT, nullable=False),
        sa.Column("started_at", MOMENT, nullable=False),
        sa.Column("started_by", sa.Text(), nullable=False),
        sa.Column("changed_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(
            ["incident_id"], ["incident.id"], name=op.f("fk_attribution_incident_id_incident")
        ),
        sa.ForeignKeyConstraint(
            ["good_stack_key"], ["stack.key"], name=op.f("fk_attribution_good_stack_key_stack")
        ),
        sa.ForeignKeyConstraint(
            ["bad_stack_key"], ["stack.key"], name=op.f("fk_attribution_bad_stack_key_stack")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_attribution")),
    )
    op.create_index(
        op.f("ix_attribution_incident_id"), "attribution", ["incident_id"], unique=False
    )
    op.create_index(
        op.f("ix_attribution_started_at_id"), "attribution", ["started_at", "id"], unique=False
    )


def downgrade() -> None:
    """Drop the table; what was found is found again from the sessions, at no cost of cards."""
    op.drop_table("attribution")
