"""Pin a stack as the baseline of the cells it was measured in, and show what is pinned."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from service.domain.audit import Act, Entry, Noun
from service.domain.baseline import Pin
from service.domain.cell import Cell, title
from service.domain.incident import Incident
from service.formats.baselines import BaselinePin, BaselineRead
from service.store import audits, baselines, compat, conditions, incidents, runs, stacks
from service.store.baselines import StoredPin
from service.store.database import ReadSession, WriteSession
from service.store.runs import StoredRun

# As many runs as a pin looks through at most.
RUNS = 20_000


class NothingToPinError(LookupError):
    """A stack has no run that may be judged in the cells that were asked for."""

    def __init__(self, stack_name: str) -> None:
        super().__init__(f"{stack_name} has no measured run in the cells asked for: nothing to pin")


class FrozenBaselineError(ValueError):
    """An incident is open on a cell, so its baseline stays until somebody answers it."""

    def __init__(self, incident: Incident) -> None:
        super().__init__(
            f"the baseline is frozen: incident {incident.id} ({incident.title}) is open; "
            f"answer it with `kunline incident triage {incident.id}`"
        )


def pin_baseline(
    session: WriteSession, wanted: BaselinePin, *, who: str, now: datetime
) -> tuple[BaselineRead, ...]:
    """Pin a stack in a channel and return the new pins; those they replace stay as history.

    Only cells with a measured run without drift are pinned.
    Raises UnknownStackError, NothingToPinError and FrozenBaselineError.
    """
    stack = stacks.read(session, wanted.stack_key).stack
    cells = _cells(session, wanted, stack.key)
    if not cells:
        raise NothingToPinError(stack.name)
    incidents.hold(session)
    _require_thawed(session, cells)
    baselines.hold_channel(session, wanted.channel)
    before = baselines.in_force(
        session, channel=wanted.channel, conditions={cell.condition_key for cell in cells}
    )
    baselines.replace(session, [pin.id for cell, pin in before.items() if cell in cells], now=now)
    pins = [Pin(wanted.channel, cell, stack.key, now, who, wanted.why) for cell in cells]
    stored = baselines.keep(session, pins)
    audits.keep(session, [_entry(new, before.get(new.pin.cell)) for new in stored])
    compat.forget_like(session, {cell.condition_key for cell in cells})
    return _read_all(session, stored)


def _require_thawed(session: WriteSession, cells: Sequence[Cell]) -> None:
    held = incidents.open_of_conditions(session, {cell.condition_key for cell in cells})
    for cell in cells:
        if cell in held:
            raise FrozenBaselineError(held[cell])


def list_baselines(
    session: ReadSession, *, channel: str | None, history: bool
) -> tuple[BaselineRead, ...]:
    """Return the pins in force, or with history those they replaced as well, newest first."""
    return _read_all(session, baselines.newest(session, channel=channel, history=history))


def _cells(session: WriteSession, wanted: BaselinePin, stack_key: str) -> Sequence[Cell]:
    measured = runs.of_stack(
        session, stack_key, conditions=wanted.condition_keys or None, limit=RUNS
    )
    found = (run.cell for run in measured if _fits(run, wanted))
    return list(dict.fromkeys(found))


def _fits(run: StoredRun, wanted: BaselinePin) -> bool:
    asked = wanted.session_id in {None, run.session_id}
    return asked and run.may_be_judged


def _entry(new: StoredPin, before: StoredPin | None) -> Entry:
    """Return a pin as the audit keeps it, with the one that it takes the place of."""
    return Entry(
        at=new.pin.pinned_at,
        actor=new.pin.pinned_by,
        act=Act.PIN,
        noun=Noun.BASELINE,
        noun_id=str(new.id),
        reason=new.pin.why,
        before=None if before is None else _state(before),
        after=_state(new),
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


def _read_all(session: ReadSession, pins: Sequence[StoredPin]) -> tuple[BaselineRead, ...]:
    names = stacks.names(session, {found.pin.stack_key for found in pins})
    under = conditions.by_key(session, {found.pin.cell.condition_key for found in pins})
    stands_on = runs.standing(session, {found.pin.stack_key for found in pins})
    return tuple(
        BaselineRead(
            id=found.id,
            channel=found.pin.channel,
            condition_key=found.pin.cell.condition_key,
            protocol_key=found.pin.cell.protocol_key,
            title=title(under[found.pin.cell.condition_key]),
            stack_key=found.pin.stack_key,
            stack_name=names[found.pin.stack_key],
            pinned_at=found.pin.pinned_at,
            pinned_by=found.pin.pinned_by,
            why=found.pin.why,
            replaced_at=found.pin.replaced_at,
            runs=stands_on[found.pin.stack_key, found.pin.cell].measured,
            withdrawn_runs=stands_on[found.pin.stack_key, found.pin.cell].withdrawn,
        )
        for found in pins
    )
