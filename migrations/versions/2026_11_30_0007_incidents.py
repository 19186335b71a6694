"""Incidents: what they list, and what people said of them."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)
DOCUMENT = sa.JSON(none_as_null=True).with_variant(
    postgresql.JSONB(none_as_null=True), "postgresql"
)


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "incident",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("direction", sa.Text(), nullable=False),
        sa.Column("baseline_stack_key", sa.Text(), nullable=False),
        sa.Column("candidate_stack_key", sa.Text(), nullable=False),
        sa.Column("opened_at", MOMENT, nullable=False),
        sa.Column("opened_by", sa.Text(), nullable=False),
        sa.Column("seen_at", MOMENT, nullable=False),
        sa.Column("host", sa.Text(), nullable=True),
        sa.Column("event_id", sa.Uuid(), nullable=True),
        sa.Column("triage", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=True),
        sa.Column("due", sa.Date(), nullable=True),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("links", DOCUMENT, nullable=False),
        sa.Column("triaged_at", MOMENT, nullable=True),
        sa.Column("verified_at", MOMENT, nullable=True),
        sa.Column("verified_stack_key", sa.Text(), nullable=True),
        sa.Column("merged_into", sa.Uuid(), nullable=True),
        sa.ForeignKeyConstraint(
            ["baseline_stack_key"], ["stack.key"], name=op.f("fk_incident_baseline_stack_key_stack")
        ),
        sa.ForeignKeyConstraint(
            ["candidate_stack_key"],
            ["stack.key"],
            name=op.f("fk_incident_candidate_stack_key_stack"),
        ),
        sa.ForeignKeyConstraint(
            ["verified_stack_key"], ["stack.key"], name=op.f("fk_incident_verified_stack_key_stack")
        ),
        sa.ForeignKeyConstraint(
            ["merged_into"], ["incident.id"], name=op.f("fk_incident_merged_into_incident")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_incident")),
    )
    op.create_index(op.f("ix_incident_opened_at_id"), "incident", ["opened_at", "id"], unique=False)
    op.create_index(op.f("ix_incident_merged_into"), "incident", ["merged_into"], unique=False)
    _create_cells()


def _create_cells() -> None:
    op.create_table(
        "incident_cell",
        sa.Column("incident_id", sa.Uuid(), nullable=False),
        sa.Column("condition_key", sa.Text(), nullable=False),
        sa.Column("protocol_key", sa.Text(), nullable=False),
        sa.Column("metric", sa.Text(), nullable=False),
        sa.Column("change", sa.Float(53), nullable=False),
        sa.Column("low", sa.Float(53), nullable=True),
        sa.Column("high", sa.Float(53), nullable=True),
        sa.Column("session_id", sa.Uuid(), nullable=True),
        sa.Column("run_ids", DOCUMENT, nullable=False),
        sa.ForeignKeyConstraint(
            ["incident_id"], ["incident.id"], name=op.f("fk_incident_cell_incident_id_incident")
        ),
        sa.ForeignKeyConstraint(
            ["condition_key"],
            ["condition.key"],
            name=op.f("fk_incident_cell_condition_key_condition"),
        ),
        sa.ForeignKeyConstraint(
            ["protocol_key"], ["protocol.key"], name=op.f("fk_incident_cell_protocol_key_protocol")
        ),
        sa.ForeignKeyConstraint(
            ["session_id"], ["session.id"], name=op.f("fk_incident_cell_session_id_session")
        ),
        sa.PrimaryKeyConstraint(
            "incident_id",
            "condition_key",
            "protocol_key",
            "metric",
            name=op.f("pk_incident_cell"),
        ),
    )
    op.create_index(
        op.f("ix_incident_cell_condition_key_protocol_key"),
        "incident_cell",
        ["condition_key", "protocol_key"],
        unique=False,
    )


def downgrade() -> None:
    """Drop the tables; the audit keeps what was said."""
    op.drop_table("incident_cell")
    op.drop_table("incident")
