"""The first tables: identities, work, what was measured, baselines, and who may call."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)
DOCUMENT = sa.JSON(none_as_null=True).with_variant(
    postgresql.JSONB(none_as_null=True), "postgresql"
)


def upgrade() -> None:
    """Create every table; those that others refer to come first."""
    _create_identities()
    _create_work()
    _create_launches()
    _create_runs()
    _create_artefacts()
    _create_pins()
    _create_callers()


def downgrade() -> None:
    """Drop every table; those that refer to others go first. Indexes go with their tables."""
    for name in (
        "idempotency",
        "token",
        "runner",
        "baseline",
        "held_artefact",
        "artefact",
        "sample",
        "run",
        "launch",
        "job",
        "session",
        "stack",
        "protocol",
        "condition",
    ):
        op.drop_table(name)


def _create_identities() -> None:
    """Create conditions, protocols and stacks, each under its content key."""
    op.create_table(
        "condition",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_condition")),
    )
    op.create_table(
        "protocol",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_protocol")),
    )
    op.create_table(
        "stack",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("chip", sa.Text(), nullable=False),
        sa.Column("built_at", sa.Date(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("first_seen_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_stack")),
    )


def _create_work() -> None:
    """Create sessions and their jobs."""
    op.create_table(
        "session",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("plan", sa.Text(), nullable=False),
        sa.Column("pool", sa.Text(), nullable=False),
        sa.Column("chip", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=True),
        sa.Column("baseline_stack_key", sa.Text(), nullable=True),
        sa.Column("content", DOCUMENT, nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("finished_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(
            ["baseline_stack_key"], ["stack.key"], name=op.f("fk_session_baseline_stack_key")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_session")),
    )
    op.create_index(op.f("ix_session_created_at_id"), "session", ["created_at", "id"], unique=False)
    op.create_index(op.f("ix_session_state"), "session", ["state"], unique=False)
    op.create_table(
        "job",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("session_id", sa.Uuid(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("pool", sa.Text(), nullable=False),
        sa.Column("chip", sa.Text(), nullable=False),
        sa.Column("cards", sa.Integer(), nullable=False),
        sa.Column("stack_key", sa.Text(), nullable=False),
        sa.Column("launch", DOCUMENT, nullable=False),
        sa.Column("cells", sa.Integer(), nullable=False),
        sa.Column("repeats", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("fencing_token", sa.Integer(), nullable=False),
        sa.Column("runner", sa.Text(), nullable=True),
        sa.Column("incarnation", sa.Text(), nullable=True),
        sa.Column("host", sa.Text(), nullable=True),
        sa.Column("lease_until", MOMENT, nullable=True),
        sa.Column("progress", DOCUMENT, nullable=True),
        sa.Column("broken", DOCUMENT, nullable=True),
        sa.Column("announced_at", MOMENT, nullable=False),
        sa.Column("finished_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["session_id"], ["session.id"], name=op.f("fk_job_session_id")),
        sa.ForeignKeyConstraint(["stack_key"], ["stack.key"], name=op.f("fk_job_stack_key")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job")),
        sa.UniqueConstraint("session_id", "ordinal", name=op.f("uq_job_session_id_ordinal")),
    )
    op.create_index(
        op.f("ix_job_runner"),
        "job",
        ["runner"],
        unique=False,
        postgresql_where=sa.text("state = 'claimed'"),
    )
    op.create_index(op.f("ix_job_state_pool"), "job", ["state", "pool"], unique=False)


def _create_launches() -> None:
    """Create launches: what was seen of one server process."""
    op.create_table(
        "launch",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("stack_key", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("started_at", MOMENT, nullable=False),
        sa.Column("stopped_at", MOMENT, nullable=True),
        sa.Column("start_up_s", sa.Float(precision=53), nullable=True),
        sa.Column("observed", DOCUMENT, nullable=False),
        sa.Column("drift", DOCUMENT, nullable=False),
        sa.Column("resolution", DOCUMENT, nullable=False),
        sa.Column("preflight", DOCUMENT, nullable=False),
        sa.Column("answer", DOCUMENT, nullable=False),
        sa.Column("broken", DOCUMENT, nullable=True),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_launch_job_id")),
        sa.ForeignKeyConstraint(["stack_key"], ["stack.key"], name=op.f("fk_launch_stack_key")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_launch")),
    )
    op.create_index(op.f("ix_launch_job_id"), "launch", ["job_id"], unique=False)


def _create_runs() -> None:
    """Create runs and their samples."""
    op.create_table(
        "run",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("session_id", sa.Uuid(), nullable=True),
        sa.Column("job_id", sa.Uuid(), nullable=True),
        sa.Column("launch_id", sa.Uuid(), nullable=False),
        sa.Column("condition_key", sa.Text(), nullable=False),
        sa.Column("protocol_key", sa.Text(), nullable=False),
        sa.Column("stack_key", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("measured_at", MOMENT, nullable=False),
        sa.Column("finished_at", MOMENT, nullable=False),
        sa.Column("stored_at", MOMENT, nullable=False),
        sa.Column("seeds", DOCUMENT, nullable=False),
        sa.Column("overhead_s", DOCUMENT, nullable=False),
        sa.Column("findings", DOCUMENT, nullable=False),
        sa.Column("broken", DOCUMENT, nullable=True),
        sa.ForeignKeyConstraint(
            ["condition_key"], ["condition.key"], name=op.f("fk_run_condition_key")
        ),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_run_job_id")),
        sa.ForeignKeyConstraint(
            ["protocol_key"], ["protocol.key"], name=op.f("fk_run_protocol_key")
        ),
        sa.ForeignKeyConstraint(["session_id"], ["session.id"], name=op.f("fk_run_session_id")),
        sa.ForeignKeyConstraint(["stack_key"], ["stack.key"], name=op.f("fk_run_stack_key")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_run")),
        sa.UniqueConstraint(
            "job_id",
            "condition_key",
            "protocol_key",
            name=op.f("uq_run_job_id_condition_key_protocol_key"),
        ),
    )
    op.create_index(
        op.f("ix_run_condition_key_protocol_key_stack_key_host"),
        "run",
        ["condition_key", "protocol_key", "stack_key", "host"],
        unique=False,
    )
    op.create_index(op.f("ix_run_launch_id"), "run", ["launch_id"], unique=False)
    op.create_index(op.f("ix_run_session_id"), "run", ["session_id"], unique=False)
    op.create_index(op.f("ix_run_stored_at_id"), "run", ["stored_at", "id"], unique=False)
    op.create_table(
        "sample",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("metric", sa.Text(), nullable=False),
        sa.Column("packed", sa.LargeBinary(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("median", sa.Float(precision=53), nullable=False),
        sa.Column("min", sa.Float(precision=53), nullable=False),
        sa.Column("max", sa.Float(precision=53), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_sample_run_id")),
        sa.PrimaryKeyConstraint("run_id", "metric", name=op.f("pk_sample")),
    )


def _create_artefacts() -> None:
    """Create contents by digest, and who holds them."""
    op.create_table(
        "artefact",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("size_bytes", sa.Integer(), nullable=False),
        sa.Column("zstd", sa.LargeBinary(), nullable=True),
        sa.Column("stored_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_artefact")),
    )
    op.create_table(
        "held_artefact",
        sa.Column("holder_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("media_type", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["digest"], ["artefact.digest"], name=op.f("fk_held_artefact_digest")
        ),
        sa.PrimaryKeyConstraint("holder_id", "name", name=op.f("pk_held_artefact")),
    )


def _create_pins() -> None:
    """Create baselines, in force and replaced."""
    op.create_table(
        "baseline",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("condition_key", sa.Text(), nullable=False),
        sa.Column("protocol_key", sa.Text(), nullable=False),
        sa.Column("stack_key", sa.Text(), nullable=False),
        sa.Column("pinned_at", MOMENT, nullable=False),
        sa.Column("pinned_by", sa.Text(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("replaced_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(
            ["condition_key"], ["condition.key"], name=op.f("fk_baseline_condition_key")
        ),
        sa.ForeignKeyConstraint(
            ["protocol_key"], ["protocol.key"], name=op.f("fk_baseline_protocol_key")
        ),
        sa.ForeignKeyConstraint(["stack_key"], ["stack.key"], name=op.f("fk_baseline_stack_key")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_baseline")),
    )
    op.create_index(
        "uq_baseline_in_force",
        "baseline",
        ["channel", "condition_key", "protocol_key"],
        unique=True,
        postgresql_where=sa.text("replaced_at IS NULL"),
        sqlite_where=sa.text("replaced_at IS NULL"),
    )


def _create_callers() -> None:
    """Create runners, tokens, and what writes were answered with."""
    op.create_table(
        "runner",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("pool", sa.Text(), nullable=False),
        sa.Column("chips", DOCUMENT, nullable=False),
        sa.Column("cards", sa.Integer(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("incarnation", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("seen_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_runner")),
    )
    op.create_table(
        "token",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("scopes", DOCUMENT, nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("expires_at", MOMENT, nullable=True),
        sa.Column("revoked_at", MOMENT, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_token")),
        sa.UniqueConstraint("digest", name=op.f("uq_token_digest")),
        sa.UniqueConstraint("name", name=op.f("uq_token_name")),
    )
    op.create_table(
        "idempotency",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("request_digest", sa.Text(), nullable=False),
        sa.Column("answer_id", sa.Uuid(), nullable=False),
        sa.Column("stored_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_idempotency")),
    )
