"""Occupancies of jobs: whether one has the cards of its host alone, or shares them."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; jobs that are queued now run alone, as conditions have it by default."""
    column = sa.Column("occupancy", sa.Text(), nullable=False, server_default="solo")
    op.add_column("job", column)


def downgrade() -> None:
    """Drop the column; nothing keeps jobs of one host apart then."""
    op.drop_column("job", "occupancy")
