"""The tables, one class each: the words of the glossary, base units, times that know their zone."""

from datetime import date, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from service.store.attribution_tables import AttributionRow
from service.store.baseline_tables import BaselineMovedRow, BaselineMoveRow, BaselineRuleRow
from service.store.card_lease_tables import CardLeaseRow
from service.store.ci_gate_tables import GateRow, WaiverRow
from service.store.columns import Moment, NaiveTimeError, Table
from service.store.compat_tables import (
    CompatAskRow,
    CompatComponentRow,
    CompatRow,
    CompatStackRow,
    CompatToldRow,
    DeclaredRow,
    QualificationRow,
)
from service.store.confirm_tables import ConfirmRow
from service.store.history_tables import AuditRow, ImportedRunRow, ImportRow, WithdrawalRow
from service.store.incident_tables import IncidentCellRow, IncidentRow
from service.store.judged_tables import JudgedRow
from service.store.noise_tables import NoiseRow, NoiseVersionRow
from service.store.schedule_tables import ScheduleRow
from service.store.screen_tables import EventRow, LookRow, MovedRow, ScreenRow
from service.store.webhook_tables import DeliveryRow, WebhookRow

# All tables are found here; those of what came after a run was stored are declared beside it.
__all__ = [
    "ArtefactRow",
    "AttributionRow",
    "AuditRow",
    "BaselineMoveRow",
    "BaselineMovedRow",
    "BaselineRow",
    "BaselineRuleRow",
    "CardLeaseRow",
    "CompatAskRow",
    "CompatComponentRow",
    "CompatRow",
    "CompatStackRow",
    "CompatToldRow",
    "ConditionRow",
    "ConfirmRow",
    "DeclaredRow",
    "DeliveryRow",
    "EventRow",
    "GateRow",
    "HeldArtefactRow",
    "IdempotencyRow",
    "ImportRow",
    "ImportedRunRow",
    "IncidentCellRow",
    "IncidentRow",
    "JobRow",
    "JudgedRow",
    "LaunchRow",
    "LookRow",
    "Moment",
    "MovedRow",
    "NaiveTimeError",
    "NoiseRow",
    "NoiseVersionRow",
    "ProtocolRow",
    "QualificationRow",
    "RunRow",
    "RunnerRow",
    "SampleRow",
    "ScheduleRow",
    "ScreenRow",
    "SessionRow",
    "StackRow",
    "Table",
    "TokenRow",
    "WaiverRow",
    "WebhookRow",
    "WithdrawalRow",
]


class ConditionRow(Table):
    """A condition as canonical JSON under its key; written once and never changed."""

    __tablename__ = "condition"

    key: Mapped[str] = mapped_column(primary_key=True)
    content: Mapped[str]


class ProtocolRow(Table):
    """A protocol as canonical JSON under its key; written once and never changed."""

    __tablename__ = "protocol"

    key: Mapped[str] = mapped_column(primary_key=True)
    content: Mapped[str]


class StackRow(Table):
    """A stack as canonical JSON under its key; the first name it came with is kept."""

    __tablename__ = "stack"
    __table_args__ = (Index(None, "built_at", "key"),)

    key: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    chip: Mapped[str]
    built_at: Mapped[date]
    content: Mapped[str]
    first_seen_at: Mapped[datetime]


class SessionRow(Table):
    """An ordered list of launches on one host. content: stacks, models, clients, policy, limits."""

    __tablename__ = "session"
    __table_args__ = (Index(None, "created_at", "id"), Index(None, "state"))

    id: Mapped[UUID] = mapped_column(primary_key=True)
    plan: Mapped[str]
    pool: Mapped[str]
    chip: Mapped[str]
    state: Mapped[str]
    host: Mapped[str | None]
    baseline_stack_key: Mapped[str | None] = mapped_column(ForeignKey(StackRow.key))
    content: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]


class JobRow(Table):
    """One launch and its cells, with the lease of whoever holds it.

    fencing_token: raised with each claim. announced_at: when runners were last told of it; of a
    claimed one, when it was claimed. occupancy: whether it has the cards of its host alone
    ('solo') or shares them ('packed').
    """

    __tablename__ = "job"
    __table_args__ = (
        UniqueConstraint("session_id", "ordinal"),
        Index(None, "state", "pool"),
        Index(None, "runner", postgresql_where=text("state = 'claimed'")),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    session_id: Mapped[UUID] = mapped_column(ForeignKey(SessionRow.id))
    ordinal: Mapped[int]
    state: Mapped[str]
    pool: Mapped[str]
    chip: Mapped[str]
    cards: Mapped[int]
    occupancy: Mapped[str] = mapped_column(server_default="solo")
    stack_key: Mapped[str] = mapped_column(ForeignKey(StackRow.key))
    launch: Mapped[dict[str, Any]]
    cells: Mapped[int]
    repeats: Mapped[int]
    attempt: Mapped[int]
    fencing_token: Mapped[int]
    runner: Mapped[str | None]
    incarnation: Mapped[str | None]
    host: Mapped[str | None]
    lease_until: Mapped[datetime | None]
    progress: Mapped[dict[str, Any] | None]
    broken: Mapped[dict[str, Any] | None]
    announced_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]


class LaunchRow(Table):
    """One server process: what was observed in it and what it settled by itself.

    drift: the pinned components whose observed version is another one. answer, loaded_answer:
    what the fixed prompts gave on the idle server, and in a full batch.
    """

    __tablename__ = "launch"
    __table_args__ = (Index(None, "job_id"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    job_id: Mapped[UUID] = mapped_column(ForeignKey(JobRow.id))
    stack_key: Mapped[str] = mapped_column(ForeignKey(StackRow.key))
    host: Mapped[str]
    started_at: Mapped[datetime]
    stopped_at: Mapped[datetime | None]
    start_up_s: Mapped[float | None]
    observed: Mapped[dict[str, Any]]
    drift: Mapped[list[Any]]
    resolution: Mapped[dict[str, Any]]
    preflight: Mapped[list[Any]]
    answer: Mapped[list[Any]]
    loaded_answer: Mapped[dict[str, Any] | None]
    broken: Mapped[dict[str, Any] | None]


class RunRow(Table):
    """One cell in one launch.

    launch_id is no foreign key: a run may arrive before the report of its launch. seeds: one a
    repeat, in the order measured; every sample of the run is in that order.
    """

    __tablename__ = "run"
    __table_args__ = (
        UniqueConstraint("job_id", "condition_key", "protocol_key"),
        Index(None, "condition_key", "protocol_key", "stack_key", "host"),
        Index(None, "stack_key", "condition_key", "protocol_key", "host"),
        Index(None, "stored_at", "id"),
        Index(None, "session_id"),
        Index(None, "launch_id"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    session_id: Mapped[UUID | None] = mapped_column(ForeignKey(SessionRow.id))
    job_id: Mapped[UUID | None] = mapped_column(ForeignKey(JobRow.id))
    launch_id: Mapped[UUID]
    condition_key: Mapped[str] = mapped_column(ForeignKey(ConditionRow.key))
    protocol_key: Mapped[str] = mapped_column(ForeignKey(ProtocolRow.key))
    stack_key: Mapped[str] = mapped_column(ForeignKey(StackRow.key))
    host: Mapped[str]
    state: Mapped[str]
    measured_at: Mapped[datetime]
    finished_at: Mapped[datetime]
    stored_at: Mapped[datetime]
    seeds: Mapped[list[Any]]
    overhead_s: Mapped[list[Any]]
    findings: Mapped[list[Any]]
    broken: Mapped[dict[str, Any] | None]


class SampleRow(Table):
    """All measurements of one metric from one run, in the metric's base unit.

    packed: every repeat as little-endian float64; the numbers beside it are for the eye alone.
    """

    __tablename__ = "sample"

    run_id: Mapped[UUID] = mapped_column(ForeignKey(RunRow.id), primary_key=True)
    metric: Mapped[str] = mapped_column(primary_key=True)
    packed: Mapped[bytes]
    count: Mapped[int]
    median: Mapped[float]
    min: Mapped[float]
    max: Mapped[float]


class ArtefactRow(Table):
    """A text or file under its digest.

    zstd: the compressed content where it is small, so that a run and its tool's text are one
    commit; larger content lies in a file named by the digest, and zstd is None.
    """

    __tablename__ = "artefact"

    digest: Mapped[str] = mapped_column(primary_key=True)
    size_bytes: Mapped[int]
    zstd: Mapped[bytes | None]
    stored_at: Mapped[datetime]


class HeldArtefactRow(Table):
    """Which run or launch an artefact belongs to, and what it is called there."""

    __tablename__ = "held_artefact"

    holder_id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(ForeignKey(ArtefactRow.digest))
    media_type: Mapped[str]


class BaselineRow(Table):
    """A stack pinned for a cell of a channel; a pin that was replaced stays as history."""

    __tablename__ = "baseline"
    __table_args__ = (
        Index(
            "uq_baseline_in_force",
            "channel",
            "condition_key",
            "protocol_key",
            unique=True,
            postgresql_where=text("replaced_at IS NULL"),
            sqlite_where=text("replaced_at IS NULL"),
        ),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    channel: Mapped[str]
    condition_key: Mapped[str] = mapped_column(ForeignKey(ConditionRow.key))
    protocol_key: Mapped[str] = mapped_column(ForeignKey(ProtocolRow.key))
    stack_key: Mapped[str] = mapped_column(ForeignKey(StackRow.key))
    pinned_at: Mapped[datetime]
    pinned_by: Mapped[str]
    why: Mapped[str]
    replaced_at: Mapped[datetime | None]


class RunnerRow(Table):
    """A runner: what it owns, which life of it was last heard of, and whether it may work."""

    __tablename__ = "runner"

    name: Mapped[str] = mapped_column(primary_key=True)
    host: Mapped[str]
    pool: Mapped[str]
    chips: Mapped[list[Any]]
    cards: Mapped[int]
    version: Mapped[str]
    incarnation: Mapped[str]
    state: Mapped[str]
    seen_at: Mapped[datetime]


class TokenRow(Table):
    """An API token by the SHA-256 of its secret; the secret itself is never stored."""

    __tablename__ = "token"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    digest: Mapped[str] = mapped_column(unique=True)
    scopes: Mapped[list[Any]]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]


class IdempotencyRow(Table):
    """What a write was answered with under its key, so that asking again changes nothing."""

    __tablename__ = "idempotency"

    key: Mapped[str] = mapped_column(primary_key=True)
    request_digest: Mapped[str]
    answer_id: Mapped[UUID]
    stored_at: Mapped[datetime]
