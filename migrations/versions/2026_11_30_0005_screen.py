"""The screen: what it looked at, where it stands in each series, and the events it saw."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)
DOCUMENT = sa.JSON(none_as_null=True).with_variant(
    postgresql.JSONB(none_as_null=True), "postgresql"
)


def upgrade() -> None:
    """Create the tables; the screen begins with the sessions that end from now on."""
    _looks()
    _screens()
    _events()
    _moved()


def downgrade() -> None:
    """Drop the tables; all of them follow from the runs."""
    for table in ("moved", "event", "screen", "look"):
        op.drop_table(table)


def _looks() -> None:
    op.create_table(
        "look",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("stack_key", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Uuid(), nullable=True),
        sa.Column("import_id", sa.Uuid(), nullable=True),
        sa.Column("measured_at", MOMENT, nullable=False),
        sa.Column("looked_at", MOMENT, nullable=False),
        _reference("look", "stack_key", "stack.key"),
        _reference("look", "session_id", "session.id"),
        _reference("look", "import_id", "import.id"),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_look")),
        sa.UniqueConstraint("session_id", "stack_key", name=op.f("uq_look_session_id_stack_key")),
        sa.UniqueConstraint("import_id", name=op.f("uq_look_import_id")),
    )


def _screens() -> None:
    op.create_table(
        "screen",
        sa.Column("condition_key", sa.Text(), nullable=False),
        sa.Column("protocol_key", sa.Text(), nullable=False),
        sa.Column("metric", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("recent", sa.LargeBinary(), nullable=False),
        sa.Column("looks", sa.LargeBinary(), nullable=False),
        sa.Column("age", sa.Integer(), nullable=False),
        sa.Column("since", sa.Integer(), nullable=True),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("smallest_effect", sa.Float(53), nullable=True),
        sa.Column("event_id", sa.Uuid(), nullable=True),
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("look", sa.Integer(), nullable=False),
        sa.Column("looked_at", MOMENT, nullable=False),
        _reference("screen", "condition_key", "condition.key"),
        _reference("screen", "protocol_key", "protocol.key"),
        _reference("screen", "run_id", "run.id"),
        _reference("screen", "look", "look.number"),
        sa.PrimaryKeyConstraint(
            "condition_key", "protocol_key", "metric", "host", name=op.f("pk_screen")
        ),
    )
    _index("screen", "host", "condition_key")
    _index("screen", "look")


def _events() -> None:
    op.create_table(
        "event",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("is_host", sa.Boolean(), nullable=False),
        sa.Column("part_of", sa.Uuid(), nullable=True),
        sa.Column("worse", sa.Boolean(), nullable=False),
        sa.Column("trigger", sa.Text(), nullable=False),
        sa.Column("metric", sa.Text(), nullable=True),
        sa.Column("change", sa.Float(53), nullable=True),
        sa.Column("measured", sa.Integer(), nullable=False),
        sa.Column("presumed", DOCUMENT, nullable=False),
        sa.Column("change_look", sa.Integer(), nullable=False),
        sa.Column("change_stack_key", sa.Text(), nullable=False),
        sa.Column("before_stack_key", sa.Text(), nullable=True),
        sa.Column("seen_look", sa.Integer(), nullable=False),
        sa.Column("seen_at", MOMENT, nullable=False),
        _reference("event", "change_look", "look.number"),
        _reference("event", "change_stack_key", "stack.key"),
        _reference("event", "before_stack_key", "stack.key"),
        _reference("event", "seen_look", "look.number"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_event")),
    )
    _index("event", "seen_at", "id")
    _index("event", "seen_look")
    _index("event", "change_stack_key")
    _index("event", "part_of")


def _moved() -> None:
    op.create_table(
        "moved",
        sa.Column("event_id", sa.Uuid(), nullable=False),
        sa.Column("condition_key", sa.Text(), nullable=False),
        sa.Column("protocol_key", sa.Text(), nullable=False),
        sa.Column("metric", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("change", sa.Float(53), nullable=False),
        sa.Column("evidence", sa.Float(53), nullable=False),
        sa.Column("look", sa.Integer(), nullable=False),
        _reference("moved", "event_id", "event.id"),
        _reference("moved", "condition_key", "condition.key"),
        _reference("moved", "protocol_key", "protocol.key"),
        _reference("moved", "look", "look.number"),
        sa.PrimaryKeyConstraint(
            "event_id", "condition_key", "protocol_key", "metric", name=op.f("pk_moved")
        ),
    )
    _index("moved", "condition_key", "protocol_key", "metric", "host")


def _reference(table: str, column: str, to: str) -> sa.ForeignKeyConstraint:
    name = op.f(f"fk_{table}_{column}_{to.partition('.')[0]}")
    return sa.ForeignKeyConstraint([column], [to], name=name)


def _index(table: str, *columns: str) -> None:
    op.create_index(op.f(f"ix_{table}_{'_'.join(columns)}"), table, [*columns], unique=False)
