"""How often anything was told of the noise of a cell on a host."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table; all that is told by now is the first version."""
    op.create_table(
        "noise_version",
        sa.Column("condition_key", sa.Text(), nullable=False),
        sa.Column("protocol_key", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["condition_key"], ["condition.key"], name=op.f("fk_noise_version_condition_key")
        ),
        sa.ForeignKeyConstraint(
            ["protocol_key"], ["protocol.key"], name=op.f("fk_noise_version_protocol_key")
        ),
        sa.PrimaryKeyConstraint(
            "condition_key", "protocol_key", "host", name=op.f("pk_noise_version")
        ),
    )
    op.execute(
        "INSERT INTO noise_version (condition_key, protocol_key, host, version) "
        "SELECT condition_key, protocol_key, host, 1 FROM noise "
        "GROUP BY condition_key, protocol_key, host"
    )


def downgrade() -> None:
    """Drop the table; all of it can be told from noise again."""
    op.drop_table("noise_version")
