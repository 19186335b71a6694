"""Moves of baselines, rules of channels, webhooks and what they are still to be told."""

from collections import defaultdict
from typing import Any
from uuid import UUID, uuid5

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)
DOCUMENT = sa.JSON(none_as_null=True).with_variant(
    postgresql.JSONB(none_as_null=True), "postgresql"
)
TABLES = ("baseline_rule", "baseline_move", "baseline_moved", "webhook", "delivery")
# What was pinned at one moment by one person for one reason was one move; its id follows from it.
SPACE = UUID("5b1b8a52-7f0e-4c35-9f7e-0d2f3f1d6c11")


def upgrade() -> None:
    """Create the tables, and tell the moves that the pins so far were."""
    _rules()
    _moves()
    _moved()
    _webhooks()
    _deliveries()
    _tell_moves()


def downgrade() -> None:
    """Drop the tables; the pins stay, and the audit keeps who moved what."""
    for name in reversed(TABLES):
        op.drop_table(name)


def _rules() -> None:
    op.create_table(
        "baseline_rule",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("stacks", sa.Text(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("made_by", sa.Text(), nullable=False),
        sa.Column("made_at", MOMENT, nullable=False),
        sa.Column("ended_at", MOMENT, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_baseline_rule")),
    )
    op.create_index(
        "uq_baseline_rule_in_force",
        "baseline_rule",
        ["channel"],
        unique=True,
        postgresql_where=sa.text("ended_at IS NULL"),
        sqlite_where=sa.text("ended_at IS NULL"),
    )


def _moves() -> None:
    op.create_table(
        "baseline_move",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("made_at", MOMENT, nullable=False),
        sa.Column("made_by", sa.Text(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("release", sa.Text(), nullable=True),
        sa.Column("incident_id", sa.Uuid(), nullable=True),
        sa.Column("rule_id", sa.Uuid(), nullable=True),
        sa.Column("undoes", sa.Uuid(), nullable=True),
        sa.ForeignKeyConstraint(
            ["incident_id"], ["incident.id"], name=op.f("fk_baseline_move_incident_id_incident")
        ),
        sa.ForeignKeyConstraint(
            ["rule_id"], ["baseline_rule.id"], name=op.f("fk_baseline_move_rule_id_baseline_rule")
        ),
        sa.ForeignKeyConstraint(
            ["undoes"], ["baseline_move.id"], name=op.f("fk_baseline_move_undoes_baseline_move")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_baseline_move")),
    )
    op.create_index(
        op.f("ix_baseline_move_channel_made_at_id"),
        "baseline_move",
        ["channel", "made_at", "id"],
        unique=False,
    )


def _moved() -> None:
    op.create_table(
        "baseline_moved",
        sa.Column("move_id", sa.Uuid(), nullable=False),
        sa.Column("condition_key", sa.Text(), nullable=False),
        sa.Column("protocol_key", sa.Text(), nullable=False),
        sa.Column("before_id", sa.Uuid(), nullable=True),
        sa.Column("after_id", sa.Uuid(), nullable=True),
        sa.ForeignKeyConstraint(
            ["move_id"], ["baseline_move.id"], name=op.f("fk_baseline_moved_move_id_baseline_move")
        ),
        sa.ForeignKeyConstraint(
            ["condition_key"],
            ["condition.key"],
            name=op.f("fk_baseline_moved_condition_key_condition"),
        ),
        sa.ForeignKeyConstraint(
            ["protocol_key"],
            ["protocol.key"],
            name=op.f("fk_baseline_moved_protocol_key_protocol"),
        ),
        sa.ForeignKeyConstraint(
            ["before_id"], ["baseline.id"], name=op.f("fk_baseline_moved_before_id_baseline")
        ),
        sa.ForeignKeyConstraint(
            ["after_id"], ["baseline.id"], name=op.f("fk_baseline_moved_after_id_baseline")
        ),
        sa.PrimaryKeyConstraint(
            "move_id", "condition_key", "protocol_key", name=op.f("pk_baseline_moved")
        ),
    )


def _webhooks() -> None:
    op.create_table(
        "webhook",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("form", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("secret", sa.Text(), nullable=True),
        sa.Column("kinds", DOCUMENT, nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("made_at", MOMENT, nullable=False),
        sa.Column("made_by", sa.Text(), nullable=False),
        sa.Column("removed_at", MOMENT, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook")),
    )
    op.create_index(
        "uq_webhook_in_force",
        "webhook",
        ["name"],
        unique=True,
        postgresql_where=sa.text("removed_at IS NULL"),
        sqlite_where=sa.text("removed_at IS NULL"),
    )


def _deliveries() -> None:
    op.create_table(
        "delivery",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("webhook_id", sa.Uuid(), nullable=False),
        sa.Column("notification_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("facts", DOCUMENT, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("made_at", MOMENT, nullable=False),
        sa.Column("next_at", MOMENT, nullable=True),
        sa.Column("sent_at", MOMENT, nullable=True),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["webhook_id"], ["webhook.id"], name=op.f("fk_delivery_webhook_id_webhook")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_delivery")),
        sa.UniqueConstraint(
            "webhook_id", "notification_id", name=op.f("uq_delivery_webhook_id_notification_id")
        ),
    )
    op.create_index(op.f("ix_delivery_next_at"), "delivery", ["next_at"], unique=False)
    op.create_index(op.f("ix_delivery_made_at_id"), "delivery", ["made_at", "id"], unique=False)


PINS = sa.table(
    "baseline",
    sa.column("id", sa.Uuid()),
    sa.column("channel", sa.Text()),
    sa.column("condition_key", sa.Text()),
    sa.column("protocol_key", sa.Text()),
    sa.column("pinned_at", MOMENT),
    sa.column("pinned_by", sa.Text()),
    sa.column("why", sa.Text()),
    sa.column("replaced_at", MOMENT),
)
MOVES = sa.table(
    "baseline_move",
    sa.column("id", sa.Uuid()),
    sa.column("channel", sa.Text()),
    sa.column("kind", sa.Text()),
    sa.column("made_at", MOMENT),
    sa.column("made_by", sa.Text()),
    sa.column("why", sa.Text()),
)
MOVED = sa.table(
    "baseline_moved",
    sa.column("move_id", sa.Uuid()),
    sa.column("condition_key", sa.Text()),
    sa.column("protocol_key", sa.Text()),
    sa.column("before_id", sa.Uuid()),
    sa.column("after_id", sa.Uuid()),
)


def _tell_moves() -> None:
    known = op.get_bind().execute(sa.select(PINS)).all()
    before = {
        (pin.channel, pin.condition_key, pin.protocol_key, pin.replaced_at): pin.id
        for pin in known
        if pin.replaced_at is not None
    }
    moves: dict[tuple[Any, ...], list[Any]] = defaultdict(list)
    for pin in known:
        moves[pin.channel, pin.pinned_at, pin.pinned_by, pin.why].append(pin)
    for (channel, at, who, why), pins in moves.items():
        number = uuid5(SPACE, f"{channel}\n{at.isoformat()}\n{who}\n{why}")
        told = {"channel": channel, "kind": "pin", "made_at": at, "made_by": who, "why": why}
        op.get_bind().execute(sa.insert(MOVES).values(id=number, **told))
        for pin in pins:
            cell = {"condition_key": pin.condition_key, "protocol_key": pin.protocol_key}
            was = before.get((channel, *cell.values(), at))
            op.get_bind().execute(
                sa.insert(MOVED).values(move_id=number, before_id=was, after_id=pin.id, **cell)
            )
