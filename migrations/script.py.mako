"""${message}."""

import sqlalchemy as sa
from alembic import op
${imports if imports else ""}

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = ${repr(branch_labels)}
depends_on = ${repr(depends_on)}


def upgrade() -> None:
    """Bring the schema up by one release."""
    ${upgrades if upgrades else "pass"}


def downgrade() -> None:
    """Take the schema back by one release."""
    ${downgrades if downgrades else "pass"}
