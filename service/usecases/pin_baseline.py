"""Pin a stack as the baseline of the cells it was measured in, and show what is pinned."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID, uuid4

from service.domain.baseline import Move, MoveKind
from service.domain.cell import Cell, title
from service.formats.baselines import BaselinePin, BaselineRead
from service.store import baselines, conditions, runs, stacks
from service.store.baselines import StoredPin
from service.store.database import ReadSession, WriteSession
from service.store.runs import StoredRun
from service.usecases.move_baseline import move_baseline

# As many runs as a pin looks through at most.
RUNS = 20_000


class NothingToPinError(LookupError):
    """A stack has no run that may be judged in the cells that were asked for."""

    def __init__(self, stack_name: str) -> None:
        super().__init__(f"{stack_name} has no measured run in the cells asked for: nothing to pin")


def pin_baseline(
    session: WriteSession,
    wanted: BaselinePin,
    *,
    who: str,
    now: datetime,
    incident_id: UUID | None = None,
) -> tuple[BaselineRead, ...]:
    """Pin a stack in a channel and return the new pins; those they replace stay as history.

    Only cells with a measured run without drift are pinned. incident_id: the one accepted by it.
    Raises UnknownStackError, NothingToPinError and FrozenBaselineError.
    """
    stack = stacks.read(session, wanted.stack_key).stack
    cells = _cells(session, wanted, stack.key)
    if not cells:
        raise NothingToPinError(stack.name)
    kind = MoveKind.PIN if wanted.release is None else MoveKind.RELEASE
    move = Move(
        id=uuid4(),
        channel=wanted.channel,
        kind=kind if incident_id is None else MoveKind.ACCEPT,
        made_at=now,
        made_by=who,
        why=wanted.why,
        release=wanted.release,
        incident_id=incident_id,
    )
    return _read_all(session, move_baseline(session, move, dict.fromkeys(cells, stack.key)))


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
