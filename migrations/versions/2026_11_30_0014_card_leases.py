"""Leases of cards: which runner holds a card of a host, and until when."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table; it fills as runners ask for work."""
    op.create_table(
        "card_lease",
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("card", sa.Text(), nullable=False),
        sa.Column("runner", sa.Text(), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("host", "card", name=op.f("pk_card_lease")),
    )


def downgrade() -> None:
    """Drop the table; locks on the hosts stay."""
    op.drop_table("card_lease")
