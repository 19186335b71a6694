"""Move baselines: the one door through which a cell gets another pin, or none; all of it kept."""

from collections.abc import Mapping, Sequence
from typing import Any

from service.domain.audit import Act, Entry, Noun
from service.domain.baseline import Move, MoveKind, Pin
from service.domain.cell import Cell
from service.domain.incident import Incident
from service.store import audits, baseline_moves, baselines, compat, incidents
from service.store.baseline_moves import StoredMoved
from service.store.baselines import StoredPin
from service.store.database import WriteSession


class FrozenBaselineError(ValueError):
    """An incident is open on a cell, so its baseline stays until somebody answers it."""

    def __init__(self, incident: Incident) -> None:
        super().__init__(
            f"the baseline is frozen: incident {incident.id} ({incident.title}) is open; "
            f"answer it with `kunline incident triage {incident.id}`"
        )


def hold(session: WriteSession, channel: str) -> None:
    """Let nobody else move a channel's baselines, or open incidents, until this session ends.

    In this order everywhere: two acts that wait for each other would else wait for ever.
    """
    incidents.hold(session)
    baselines.hold_channel(session, channel)


def move_baseline(
    session: WriteSession, move: Move, to: Mapping[Cell, str | None]
) -> Sequence[StoredPin]:
    """Make a move and return the pins that it left in force; those before them stay as history.

    to: the stack of each cell, by key; None leaves the cell without a baseline.
    Raises FrozenBaselineError.
    """
    hold(session, move.channel)
    conditions = {cell.condition_key for cell in to}
    held = incidents.open_of_conditions(session, conditions)
    for cell in to:
        if cell in held:
            raise FrozenBaselineError(held[cell])
    before = baselines.in_force(session, channel=move.channel, conditions=conditions)
    gone = [pin.id for cell, pin in before.items() if cell in to]
    baselines.replace(session, gone, now=move.made_at)
    pins = [
        Pin(move.channel, cell, key, move.made_at, move.made_by, move.why)
        for cell, key in to.items()
        if key is not None
    ]
    stored = baselines.keep(session, pins)
    after = {each.pin.cell: each for each in stored}
    moved = [_moved(move, cell, before.get(cell), after.get(cell)) for cell in to]
    baseline_moves.keep(session, move, moved)
    audits.keep(session, [_entry(move, before.get(cell), after.get(cell)) for cell in to])
    compat.forget_like(session, conditions)
    return stored


def _moved(
    move: Move, cell: Cell, before: StoredPin | None, after: StoredPin | None
) -> StoredMoved:
    return StoredMoved(
        move_id=move.id,
        cell=cell,
        before_id=None if before is None else before.id,
        after_id=None if after is None else after.id,
    )


def _entry(move: Move, before: StoredPin | None, after: StoredPin | None) -> Entry:
    """Return a cell's move as the audit keeps it, with what it takes the place of."""
    left = after or before
    return Entry(
        at=move.made_at,
        actor=move.made_by,
        act=Act.UNDO if move.kind is MoveKind.UNDO else Act.PIN,
        noun=Noun.BASELINE,
        noun_id=str(move.id if left is None else left.id),
        reason=move.why,
        before=None if before is None else _state(before),
        after=None if after is None else _state(after),
    )


def _state(stored: StoredPin) -> dict[str, Any]:
    pin = stored.pin
    return {
        "id": str(stored.id),
        "channel": pin.channel,
        "condition_key": pin.cell.condition_key,
        "protocol_key": pin.cell.protocol_key,
        "stack_key": pin.stack_key,
    }
