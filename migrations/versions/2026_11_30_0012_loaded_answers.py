"""What the fixed prompts gave in a full batch, kept beside what they gave on the idle server."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

DOCUMENT = sa.JSON(none_as_null=True).with_variant(
    postgresql.JSONB(none_as_null=True), "postgresql"
)


def upgrade() -> None:
    """Add the column; launches of before were not asked under load."""
    op.add_column("launch", sa.Column("loaded_answer", DOCUMENT, nullable=True))


def downgrade() -> None:
    """Drop the column."""
    op.drop_column("launch", "loaded_answer")
