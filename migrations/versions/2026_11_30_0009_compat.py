"""The compatibility table, what people ask of it, declared constraints, and qualifications."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)
DOCUMENT = sa.JSON(none_as_null=True).with_variant(
    postgresql.JSONB(none_as_null=True), "postgresql"
)
TABLES = (
    "compat",
    "compat_stack",
    "compat_component",
    "compat_told",
    "compat_ask",
    "declared",
    "qualification",
)


def upgrade() -> None:
    """Create the tables; those of the table itself fill as people look."""
    _table()
    _stacks()
    _asks()
    _declared()
    _qualifications()


def downgrade() -> None:
    """Drop the tables; what is derived can be told again, asks and declarations cannot."""
    op.drop_index(op.f("ix_stack_built_at_key"), table_name="stack")
    for name in reversed(TABLES):
        op.drop_table(name)


def _table() -> None:
    op.create_table(
        "compat",
        _text("stack_key"),
        _text("condition_key"),
        _text("protocol_key"),
        _text("card_model"),
        _text("model"),
        _text("state"),
        sa.Column("told", DOCUMENT, nullable=False),
        sa.PrimaryKeyConstraint(
            "stack_key", "condition_key", "protocol_key", name=op.f("pk_compat")
        ),
    )
    _index("compat", "condition_key", "stack_key")


def _stacks() -> None:
    op.create_table(
        "compat_stack",
        _text("stack_key"),
        _text("card_model"),
        _text("model"),
        _text("name"),
        _text("chip"),
        sa.Column("built_at", sa.Date(), nullable=False),
        _text("state"),
        sa.Column("measured_at", MOMENT, nullable=True),
        sa.Column("told", DOCUMENT, nullable=False),
        sa.PrimaryKeyConstraint("stack_key", "card_model", "model", name=op.f("pk_compat_stack")),
    )
    _index("compat_stack", "built_at", "stack_key", "card_model", "model")
    _index("stack", "built_at", "key")
    _index("compat_stack", "model", "card_model", "built_at")
    op.create_table(
        "compat_component",
        _text("stack_key"),
        _text("name"),
        _text("version"),
        sa.PrimaryKeyConstraint("stack_key", "name", name=op.f("pk_compat_component")),
    )
    _index("compat_component", "name", "version", "stack_key")
    op.create_table(
        "compat_told",
        _text("stack_key"),
        _text("rule"),
        sa.Column("told_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("stack_key", name=op.f("pk_compat_told")),
    )


def _asks() -> None:
    op.create_table(
        "compat_ask",
        _text("digest"),
        sa.Column("question", DOCUMENT, nullable=False),
        _text("answer"),
        sa.Column("times", sa.Integer(), nullable=False),
        sa.Column("asked_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_compat_ask")),
    )
    _index("compat_ask", "asked_at")


def _declared() -> None:
    op.create_table(
        "declared",
        sa.Column("id", sa.Uuid(), nullable=False),
        _text("name"),
        sa.Column("content", DOCUMENT, nullable=False),
        sa.Column("declared_at", MOMENT, nullable=False),
        _text("declared_by"),
        sa.Column("ended_at", MOMENT, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_declared")),
    )
    _index("declared", "name")


def _qualifications() -> None:
    op.create_table(
        "qualification",
        sa.Column("id", sa.Uuid(), nullable=False),
        _text("from_stack_key"),
        _text("to_stack_key"),
        _text("state"),
        sa.Column("content", DOCUMENT, nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        _text("created_by"),
        sa.Column("changed_at", MOMENT, nullable=False),
        _reference("from_stack_key"),
        _reference("to_stack_key"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_qualification")),
    )
    _index("qualification", "created_at")


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=False)


def _reference(column: str) -> sa.ForeignKeyConstraint:
    name = op.f(f"fk_qualification_{column}_stack")
    return sa.ForeignKeyConstraint([column], ["stack.key"], name=name)


def _index(table: str, *columns: str) -> None:
    op.create_index(op.f(f"ix_{table}_{'_'.join(columns)}"), table, [*columns], unique=False)
