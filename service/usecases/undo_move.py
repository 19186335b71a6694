"""Take a move of baselines back, by a move of its own, and read the moves of a channel."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID, uuid4

from service.domain.baseline import Move, MoveKind
from service.domain.cell import title
from service.formats.baselines import MovedCell, MovePage, MoveRead
from service.store import baseline_moves, baselines, conditions, marks, stacks
from service.store.baseline_moves import StoredMoved
from service.store.database import ReadSession, WriteSession
from service.usecases.move_baseline import hold, move_baseline
from service.usecases.read_runs import cursor_of, read_cursor


class MovedOnError(ValueError):
    """A cell of a move has another baseline by now, so taking it back would lose that one."""

    def __init__(self, move: Move, cells: int) -> None:
        super().__init__(
            f"{cells} cells of move {move.id} were moved again since: take back what came after "
            f"it first; `kunline baseline history {move.channel}` shows the moves in order"
        )


def undo_move(
    session: WriteSession, move_id: UUID, *, why: str, who: str, now: datetime
) -> MoveRead:
    """Put back what a move replaced, in all of its cells, and return the move that does it.

    Raises UnknownMoveError, MovedOnError and FrozenBaselineError.
    """
    move = baseline_moves.read(session, move_id)
    hold(session, move.channel)
    cells = baseline_moves.cells(session, [move_id])[move_id]
    _require_last(session, move, cells)
    back = Move(
        id=uuid4(),
        channel=move.channel,
        kind=MoveKind.UNDO,
        made_at=now,
        made_by=who,
        why=why,
        undoes=move.id,
    )
    move_baseline(session, back, {each.cell: each.before_stack_key for each in cells})
    return _told(session, [back])[0]


def rests_on(session: ReadSession) -> str:
    """Return a text that is another one whenever a page of moves may be."""
    return marks.of_moves(session)


def list_moves(
    session: ReadSession, *, channel: str | None, limit: int, cursor: str | None
) -> MovePage:
    """Return a page of moves, the newest first. Raises CursorError."""
    before = None if cursor is None else read_cursor(cursor)
    found = baseline_moves.newest(session, channel=channel, before=before, limit=limit + 1)
    page = found[:limit]
    more = len(found) > limit
    return MovePage(
        moves=_told(session, page),
        cursor=cursor_of(page[-1].made_at, page[-1].id) if more else None,
    )


def _require_last(session: ReadSession, move: Move, cells: Sequence[StoredMoved]) -> None:
    pinned = baselines.in_force(
        session, channel=move.channel, conditions={each.cell.condition_key for each in cells}
    )
    # What an undo put back counts as what it put back, so that moves are undone one by one.
    left = [each.after_id for each in cells if each.after_id is not None]
    firsts = baseline_moves.first_pins(session, {*left, *(found.id for found in pinned.values())})
    now = {cell: firsts[found.id] for cell, found in pinned.items()}
    moved_on = sum(
        now.get(each.cell) != (firsts[each.after_id] if each.after_id else None) for each in cells
    )
    if moved_on:
        raise MovedOnError(move, moved_on)


def _told(session: ReadSession, found: Sequence[Move]) -> tuple[MoveRead, ...]:
    ids = [move.id for move in found]
    moved = baseline_moves.cells(session, ids)
    undone = baseline_moves.undone(session, ids)
    every = [each for of in moved.values() for each in of]
    under = conditions.by_key(session, {each.cell.condition_key for each in every})
    titles = {key: title(condition) for key, condition in under.items()}
    keys = {key for each in every for key in (each.before_stack_key, each.after_stack_key) if key}
    names = stacks.names(session, keys)
    return tuple(
        _read(move, moved.get(move.id, ()), undone.get(move.id), titles=titles, names=names)
        for move in found
    )


def _read(
    move: Move,
    moved: Sequence[StoredMoved],
    undone_by: UUID | None,
    *,
    titles: Mapping[str, str],
    names: Mapping[str, str],
) -> MoveRead:
    return MoveRead(
        id=move.id,
        channel=move.channel,
        kind=move.kind,
        made_at=move.made_at,
        made_by=move.made_by,
        why=move.why,
        release=move.release,
        incident_id=move.incident_id,
        rule_id=move.rule_id,
        undoes=move.undoes,
        undone_by=undone_by,
        cells=tuple(_cell(each, titles[each.cell.condition_key], names) for each in moved),
    )


def _cell(moved: StoredMoved, words: str, names: Mapping[str, str]) -> MovedCell:
    before, after = moved.before_stack_key, moved.after_stack_key
    return MovedCell(
        condition_key=moved.cell.condition_key,
        protocol_key=moved.cell.protocol_key,
        title=words,
        from_stack_key=before,
        from_stack_name=names[before] if before else None,
        to_stack_key=after,
        to_stack_name=names[after] if after else None,
    )
