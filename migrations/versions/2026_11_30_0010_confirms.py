"""Confirms: suspicions measured again, within a budget, and what came of them."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)
DOCUMENT = sa.JSON(none_as_null=True).with_variant(
    postgresql.JSONB(none_as_null=True), "postgresql"
)


def upgrade() -> None:
    """Create the table; events seen before are confirmed where a person asks for it."""
    op.create_table(
        "confirm",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("event_id", sa.Uuid(), nullable=False),
        _text("host"),
        _text("direction"),
        _text("baseline_stack_key"),
        _text("candidate_stack_key"),
        sa.Column("session_id", sa.Uuid(), nullable=True),
        sa.Column("incident_id", sa.Uuid(), nullable=True),
        _text("state"),
        _text("outcome", nullable=True),
        _text("ended_by", nullable=True),
        _text("reason"),
        sa.Column("content", DOCUMENT, nullable=False),
        sa.Column("looks", DOCUMENT, nullable=False),
        sa.Column("planned_launches", sa.Integer(), nullable=False),
        sa.Column("planned_card_s", sa.Float(precision=53), nullable=False),
        sa.Column("launches", sa.Integer(), nullable=False),
        sa.Column("card_s", sa.Float(precision=53), nullable=False),
        _text("asked_by"),
        sa.Column("asked_at", MOMENT, nullable=False),
        _text("why"),
        sa.Column("changed_at", MOMENT, nullable=False),
        sa.Column("started_at", MOMENT, nullable=True),
        sa.Column("ended_at", MOMENT, nullable=True),
        _key("baseline_stack_key", "stack.key"),
        _key("candidate_stack_key", "stack.key"),
        _key("session_id", "session.id"),
        _key("incident_id", "incident.id"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_confirm")),
        sa.UniqueConstraint("session_id", name=op.f("uq_confirm_session_id")),
    )
    for columns in (["asked_at", "id"], ["event_id"], ["incident_id"], ["state"]):
        op.create_index(op.f(f"ix_confirm_{'_'.join(columns)}"), "confirm", columns)


def downgrade() -> None:
    """Drop the table; what its sessions measured stays."""
    op.drop_table("confirm")


def _text(name: str, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=nullable)


def _key(column: str, of: str) -> sa.ForeignKeyConstraint:
    name = f"fk_confirm_{column}_{of.split('.', maxsplit=1)[0]}"
    return sa.ForeignKeyConstraint([column], [of], name=op.f(name))
