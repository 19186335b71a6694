"""Waive a worsening for a while, take that back, and show what is waived."""

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from service.domain.audit import Act, Entry, Noun
from service.domain.cell import title
from service.domain.metric import metric_named
from service.domain.waiver import Waiver, require_time
from service.formats.waivers import WaiverOrder, WaiverRead, WaiverRevocation
from service.store import audits, conditions, stacks, waivers
from service.store.database import ReadSession, WriteSession
from service.store.waivers import StoredWaiver


def waive(session: WriteSession, order: WaiverOrder, *, who: str, now: datetime) -> WaiverRead:
    """Store a waiver and return it.

    Raises WaiverTimeError, UnknownMetricError, UnknownConditionError and UnknownStackError.
    """
    require_time(order.until, now=now)
    if order.metric is not None:
        metric_named(order.metric)
    if order.condition_key is not None:
        conditions.read(session, order.condition_key)
    stack = stacks.read(session, order.stack_key).stack.key if order.stack_key else None
    waiver = Waiver(
        order.plan, order.condition_key, order.metric, stack, order.until, order.why, who
    )
    stored = StoredWaiver(uuid4(), waiver, now, None)
    waivers.keep(session, stored)
    audits.keep(session, [_entry(stored, Act.WAIVE, who, order.why, now, None, _state(stored))])
    return _read(session, stored, now)


def revoke_waiver(
    session: WriteSession, waiver_id: UUID, order: WaiverRevocation, *, who: str, now: datetime
) -> WaiverRead:
    """Take a waiver back and return it; once is enough. Raises UnknownWaiverError."""
    stored = waivers.read(session, waiver_id)
    if stored.revoked_at is None:
        waivers.revoke(session, waiver_id, now=now)
        entry = _entry(stored, Act.REVOKE, who, order.why, now, _state(stored), None)
        audits.keep(session, [entry])
    return _read(session, waivers.read(session, waiver_id), now)


def list_waivers(session: ReadSession, *, now: datetime) -> tuple[WaiverRead, ...]:
    """Return every waiver, the newest made first."""
    return tuple(_read(session, stored, now) for stored in waivers.newest(session))


def _read(session: ReadSession, stored: StoredWaiver, now: datetime) -> WaiverRead:
    waiver = stored.waiver
    key = waiver.condition_key
    return WaiverRead(
        id=stored.id,
        plan=waiver.plan,
        condition_key=key,
        title=title(conditions.read(session, key)) if key else None,
        metric=waiver.metric,
        stack_key=waiver.stack_key,
        until=waiver.until,
        why=waiver.why,
        who=waiver.who,
        made_at=stored.made_at,
        revoked_at=stored.revoked_at,
        in_force=stored.revoked_at is None and now < waiver.until,
    )


def _entry(
    stored: StoredWaiver,
    act: Act,
    who: str,
    why: str,
    now: datetime,
    before: dict[str, Any] | None,
    after: dict[str, Any] | None,
) -> Entry:
    return Entry(now, who, act, Noun.WAIVER, str(stored.id), why, before, after)


def _state(stored: StoredWaiver) -> dict[str, Any]:
    waiver = stored.waiver
    return {
        "plan": waiver.plan,
        "condition_key": waiver.condition_key,
        "metric": waiver.metric,
        "stack_key": waiver.stack_key,
        "until": waiver.until.isoformat(),
    }
