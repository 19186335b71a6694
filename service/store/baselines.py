"""Queries that keep and return pinned baselines."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Select, func, insert, select, update

from service.domain.baseline import Pin
from service.domain.cell import Cell
from service.store.database import ReadSession, WriteSession
from service.store.tables import BaselineRow

PIN = (
    BaselineRow.id,
    BaselineRow.channel,
    BaselineRow.condition_key,
    BaselineRow.protocol_key,
    BaselineRow.stack_key,
    BaselineRow.pinned_at,
    BaselineRow.pinned_by,
    BaselineRow.why,
    BaselineRow.replaced_at,
)


@dataclass(frozen=True, slots=True)
class StoredPin:
    """A pin and its id."""

    id: UUID
    pin: Pin


def hold_channel(session: WriteSession, channel: str) -> None:
    """Let nobody else pin in a channel until this session ends; SQLite lets one writer in anyway.

    A lock on rows would not do: two first pins of a cell have no row to wait for.
    """
    if session.get_bind().dialect.name == "postgresql":
        number = func.hashtextextended(f"kunline channel {channel}", 0)
        session.execute(select(func.pg_advisory_xact_lock(number)))


def replace(session: WriteSession, pin_ids: Collection[UUID], *, now: datetime) -> None:
    """Mark pins as replaced; they stay as history."""
    session.execute(
        update(BaselineRow)
        .where(BaselineRow.id.in_(pin_ids), BaselineRow.replaced_at.is_(None))
        .values(replaced_at=now)
        .execution_options(synchronize_session=False)
    )


def keep(session: WriteSession, pins: Sequence[Pin]) -> Sequence[StoredPin]:
    """Store new pins and return them with their ids."""
    stored = [StoredPin(uuid4(), pin) for pin in pins]
    rows = [
        {
            "id": new.id,
            "channel": new.pin.channel,
            "condition_key": new.pin.cell.condition_key,
            "protocol_key": new.pin.cell.protocol_key,
            "stack_key": new.pin.stack_key,
            "pinned_at": new.pin.pinned_at,
            "pinned_by": new.pin.pinned_by,
            "why": new.pin.why,
            "replaced_at": new.pin.replaced_at,
        }
        for new in stored
    ]
    if rows:
        session.execute(insert(BaselineRow), rows)
    return stored


def in_force(
    session: ReadSession, *, channel: str, conditions: Collection[str]
) -> Mapping[Cell, StoredPin]:
    """Return the pins in force of a channel, by cell."""
    query = select(BaselineRow).where(
        BaselineRow.channel == channel,
        BaselineRow.condition_key.in_(conditions),
        BaselineRow.replaced_at.is_(None),
    )
    return {found.pin.cell: found for found in _all(session, query)}


def stacks_in_force(session: ReadSession, channel: str, *, limit: int) -> Mapping[Cell, str]:
    """Return the stack that each cell of a channel is held to, by key, and nothing else of it."""
    columns = BaselineRow.condition_key, BaselineRow.protocol_key, BaselineRow.stack_key
    rows = session.execute(
        select(*columns)
        .where(BaselineRow.channel == channel, BaselineRow.replaced_at.is_(None))
        .order_by(BaselineRow.condition_key, BaselineRow.protocol_key)
        .limit(limit)
    )
    return {Cell(condition, protocol): stack for condition, protocol, stack in rows}


def stack_keys(session: ReadSession, channel: str) -> frozenset[str]:
    """Return the stacks that any cell of a channel is held to, by key."""
    query = select(BaselineRow.stack_key).where(
        BaselineRow.channel == channel, BaselineRow.replaced_at.is_(None)
    )
    return frozenset(session.scalars(query.distinct()))


def newest(
    session: ReadSession, *, channel: str | None = None, history: bool = False, limit: int = 500
) -> Sequence[StoredPin]:
    """Return pins, newest first; with history those that were replaced as well."""
    query = select(BaselineRow)
    if channel is not None:
        query = query.where(BaselineRow.channel == channel)
    if not history:
        query = query.where(BaselineRow.replaced_at.is_(None))
    return _all(
        session,
        query.order_by(
            BaselineRow.pinned_at.desc(), BaselineRow.channel, BaselineRow.condition_key
        ).limit(limit),
    )


def _all(session: ReadSession, query: Select[Any]) -> Sequence[StoredPin]:
    return [_stored(*row) for row in session.execute(query.with_only_columns(*PIN))]


def _stored(
    pin_id: UUID, channel: str, condition_key: str, protocol_key: str, *told: Any
) -> StoredPin:
    """Return a pin from the columns of PIN; by place, for a page has hundreds."""
    return StoredPin(pin_id, Pin(channel, Cell(condition_key, protocol_key), *told))
