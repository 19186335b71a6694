"""Queries that keep, end and return waivers."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import insert, select, update

from service.domain.waiver import Waiver
from service.store.database import ReadSession, WriteSession
from service.store.tables import WaiverRow


@dataclass(frozen=True, slots=True)
class StoredWaiver:
    """A waiver and its id, when it was made, and when it was taken back before its time."""

    id: UUID
    waiver: Waiver
    made_at: datetime
    revoked_at: datetime | None


class UnknownWaiverError(LookupError):
    """No waiver has that id."""

    def __init__(self, waiver_id: UUID) -> None:
        super().__init__(f"no waiver {waiver_id}; `kunline waiver list` shows them")


def keep(session: WriteSession, stored: StoredWaiver) -> None:
    """Store a new waiver."""
    row = {**asdict(stored.waiver), "id": stored.id, "made_at": stored.made_at}
    session.execute(insert(WaiverRow).values(**row, revoked_at=stored.revoked_at))


def read(session: ReadSession, waiver_id: UUID) -> StoredWaiver:
    """Return one waiver. Raises UnknownWaiverError."""
    row = session.get(WaiverRow, waiver_id, populate_existing=True)
    if row is None:
        raise UnknownWaiverError(waiver_id)
    return _stored(row)


def revoke(session: WriteSession, waiver_id: UUID, *, now: datetime) -> None:
    """Take a waiver back; one that was before stays as it is."""
    session.execute(
        update(WaiverRow)
        .where(WaiverRow.id == waiver_id, WaiverRow.revoked_at.is_(None))
        .values(revoked_at=now)
        .execution_options(synchronize_session=False)
    )


def in_force(session: ReadSession, plan: str, *, at: datetime) -> Sequence[StoredWaiver]:
    """Return the waivers of a plan that were in force at a time, the longest first."""
    rows = session.scalars(
        select(WaiverRow)
        .where(
            WaiverRow.plan == plan,
            WaiverRow.made_at <= at,
            WaiverRow.until > at,
            WaiverRow.revoked_at.is_(None) | (WaiverRow.revoked_at > at),
        )
        .order_by(WaiverRow.until.desc(), WaiverRow.id)
        .limit(500)
    )
    return [_stored(row) for row in rows]


def newest(session: ReadSession, *, limit: int = 500) -> Sequence[StoredWaiver]:
    """Return waivers, the newest made first."""
    rows = session.scalars(
        select(WaiverRow).order_by(WaiverRow.made_at.desc(), WaiverRow.id).limit(limit)
    )
    return [_stored(row) for row in rows]


def _stored(row: WaiverRow) -> StoredWaiver:
    waiver = Waiver(
        plan=row.plan,
        condition_key=row.condition_key,
        metric=row.metric,
        stack_key=row.stack_key,
        until=row.until,
        why=row.why,
        who=row.who,
    )
    return StoredWaiver(row.id, waiver, row.made_at, row.revoked_at)
