"""Queries that keep and return the moves of baselines."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Select, and_, insert, select, tuple_
from sqlalchemy.orm import aliased

from service.domain.baseline import Move, MoveKind
from service.domain.cell import Cell
from service.store.database import ReadSession, WriteSession
from service.store.tables import BaselineMovedRow, BaselineMoveRow, BaselineRow


@dataclass(frozen=True, slots=True)
class StoredMoved:
    """A cell of a move: the pins before and after it, and their stacks by key; None for none."""

    move_id: UUID
    cell: Cell
    before_id: UUID | None = None
    after_id: UUID | None = None
    before_stack_key: str | None = None
    after_stack_key: str | None = None


class UnknownMoveError(LookupError):
    """No move has that id."""

    def __init__(self, move_id: UUID) -> None:
        super().__init__(f"no move {move_id}; `kunline baseline history` shows them")


def keep(session: WriteSession, move: Move, moved: Sequence[StoredMoved]) -> None:
    """Store a new move and the cells that it moved."""
    session.execute(insert(BaselineMoveRow).values({**asdict(move), "kind": move.kind.value}))
    rows = [
        {
            "move_id": move.id,
            "condition_key": each.cell.condition_key,
            "protocol_key": each.cell.protocol_key,
            "before_id": each.before_id,
            "after_id": each.after_id,
        }
        for each in moved
    ]
    if rows:
        session.execute(insert(BaselineMovedRow), rows)


def read(session: ReadSession, move_id: UUID) -> Move:
    """Return one move. Raises UnknownMoveError."""
    found = _all(session, select(BaselineMoveRow).where(BaselineMoveRow.id == move_id))
    if not found:
        raise UnknownMoveError(move_id)
    return found[0]


def newest(
    session: ReadSession,
    *,
    channel: str | None,
    before: tuple[datetime, UUID] | None = None,
    limit: int,
) -> Sequence[Move]:
    """Return moves, the newest first; before: the last of a page that was read."""
    query = select(BaselineMoveRow)
    if channel is not None:
        query = query.where(BaselineMoveRow.channel == channel)
    if before is not None:
        query = query.where(tuple_(BaselineMoveRow.made_at, BaselineMoveRow.id) < before)
    order = BaselineMoveRow.made_at.desc(), BaselineMoveRow.id.desc()
    return _all(session, query.order_by(*order).limit(limit))


def undone(session: ReadSession, move_ids: Collection[UUID]) -> Mapping[UUID, UUID]:
    """Return which move took some moves back, by the move that was taken back.

    One that was taken back itself took nothing back.
    """
    if not move_ids:
        return {}
    rows = session.execute(
        select(BaselineMoveRow.undoes, BaselineMoveRow.id)
        .where(BaselineMoveRow.undoes.in_(move_ids))
        .order_by(BaselineMoveRow.made_at, BaselineMoveRow.id)
    ).all()
    again = undone(session, {by for _, by in rows})
    return {move: by for move, by in rows if move is not None and by not in again}


def first_pins(session: ReadSession, pin_ids: Collection[UUID]) -> Mapping[UUID, UUID]:
    """Return, for each of some pins, itself, or where an undo put it there, the one it restores."""
    moved, taken_back = aliased(BaselineMovedRow), aliased(BaselineMovedRow)
    if not pin_ids:
        return {}
    rows = session.execute(
        select(moved.after_id, taken_back.before_id)
        .join(BaselineMoveRow, BaselineMoveRow.id == moved.move_id)
        .join(
            taken_back,
            and_(
                taken_back.move_id == BaselineMoveRow.undoes,
                taken_back.condition_key == moved.condition_key,
                taken_back.protocol_key == moved.protocol_key,
            ),
        )
        .where(moved.after_id.in_(pin_ids), taken_back.before_id.is_not(None))
    )
    restored = {pin: before for pin, before in rows if pin is not None and before is not None}
    firsts = first_pins(session, set(restored.values()))
    return {pin: firsts[restored[pin]] if pin in restored else pin for pin in pin_ids}


def cells(session: ReadSession, move_ids: Collection[UUID]) -> Mapping[UUID, Sequence[StoredMoved]]:
    """Return the cells that some moves moved, from what to what."""
    was, became = aliased(BaselineRow), aliased(BaselineRow)
    rows = session.execute(
        select(
            BaselineMovedRow.move_id,
            BaselineMovedRow.condition_key,
            BaselineMovedRow.protocol_key,
            BaselineMovedRow.before_id,
            BaselineMovedRow.after_id,
            was.stack_key,
            became.stack_key,
        )
        .outerjoin(was, was.id == BaselineMovedRow.before_id)
        .outerjoin(became, became.id == BaselineMovedRow.after_id)
        .where(BaselineMovedRow.move_id.in_(move_ids))
        .order_by(BaselineMovedRow.condition_key, BaselineMovedRow.protocol_key)
    )
    found: dict[UUID, list[StoredMoved]] = defaultdict(list)
    # By place and not by name: a release moves a thousand cells at once.
    for move_id, condition_key, protocol_key, before_id, after_id, before, after in rows:
        cell = Cell(condition_key, protocol_key)
        found[move_id].append(StoredMoved(move_id, cell, before_id, after_id, before, after))
    return found


def _all(session: ReadSession, query: Select[Any]) -> Sequence[Move]:
    return [
        Move(
            id=row.id,
            channel=row.channel,
            kind=MoveKind(row.kind),
            made_at=row.made_at,
            made_by=row.made_by,
            why=row.why,
            release=row.release,
            incident_id=row.incident_id,
            rule_id=row.rule_id,
            undoes=row.undoes,
        )
        for row in session.scalars(query)
    ]
