"""Look: the screen takes in what a session or an import measured, or tells a history anew."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from service.domain.cell import Cell
from service.domain.host import UNKNOWN_HOST
from service.stats.screen import KEPT, WINDOW
from service.store import confirms, events, looks, runs, screens, sessions
from service.store.database import WriteSession
from service.store.events import StoredEvent
from service.store.looks import Look, LookedRun, NewLook
from service.usecases.name_hosts import name_hosts
from service.usecases.screen_memory import WATCHED, Memory, take

# As many runs of a session as are looked at.
RUNS = 20_000
# A history is told anew from its newest looks: so many, and fewer where they hold more values
# than this, so that it takes seconds.
LOOKS_MAX = 200
VALUES_MAX = 200_000
# Looks share cells with looks that share cells; further than this it is not followed.
ROUNDS = 4


def look_at_session(session: WriteSession, session_id: UUID, *, now: datetime) -> None:
    """Look at what a session measured, one look a stack, each once however often it is asked.

    The baseline beside candidates is the control of their comparison. It is no new night of the
    history, and is left out: a stack measured every night would make each change come and go.
    A confirm is none either: it answers what the history asked.
    """
    if confirms.of_session(session, session_id) is not None:
        return
    looks.hold(session)
    host = sessions.read(session, session_id).host
    if host is None:
        return
    known = looks.of_session(session, session_id)
    found = [
        looks.keep(session, NewLook(host, stack_key, session_id, None, measured_at), now=now)
        for stack_key, measured_at in _stacks(session, session_id).items()
        if stack_key not in known
    ]
    for look in sorted(found, key=lambda each: each.place):
        _take_in(session, look)


def look_at_import(session: WriteSession, import_id: UUID, *, host: str, now: datetime) -> None:
    """Look at what an import brought: one look. Where its host is not known, nothing is watched."""
    if host == UNKNOWN_HOST:
        return
    looks.hold(session)
    new = looks.brought(session, import_id, host=host)
    if new is not None and looks.of_import(session, import_id) is None:
        _take_in(session, looks.keep(session, new, now=now))


def look_again(session: WriteSession, run_ids: Collection[UUID], *, now: datetime) -> None:
    """Tell the histories anew that some runs are part of, now that they count or do not."""
    looks.hold(session)
    told: set[int] = set()
    for look in looks.of_runs(session, run_ids):
        if look.number not in told:
            told |= _retell(session, look)
    for session_id in runs.sessions_of(session, run_ids):
        # A stack whose runs were all withdrawn when its session ended was not looked at.
        if sessions.read(session, session_id).state == "finished":
            look_at_session(session, session_id, now=now)


def _stacks(session: WriteSession, session_id: UUID) -> Mapping[str, datetime]:
    """Return when each stack that enters the history was first measured in a session."""
    found: dict[str, datetime] = {}
    for run in runs.of_session(session, session_id, limit=RUNS):
        if run.may_be_judged:
            found.setdefault(run.stack_key, run.measured_at)
    control = sessions.read(session, session_id).baseline_stack_key
    return {key: at for key, at in found.items() if len(found) == 1 or key != control}


def _take_in(session: WriteSession, look: Look) -> None:
    """Take in a new look: at the end of its history, or by telling that anew."""
    found = looks.runs(session, [look.number], metrics=WATCHED)[look.number]
    memory = _memory(session, look, {run.cell for run in found})
    if any(each.place > look.place for each in memory.looks.values()):
        _retell(session, look)
        return
    take(memory, look, found)
    _store(session, memory, {run.cell for run in found})


def _memory(session: WriteSession, look: Look, cells: Collection[Cell]) -> Memory:
    """Return where the series of some cells stand."""
    keys = {cell.condition_key for cell in cells}
    stored = {
        key: screen
        for key, screen in screens.of_conditions(session, keys, host=look.host).items()
        if key.cell in cells
    }
    numbers = {number for screen in stored.values() for number in screen.standing.looks}
    named = looks.by_number(session, numbers)
    known = events.of_looks(session, named)
    # The first look of a change may be older than what is kept of a series.
    named = {**named, **looks.by_number(session, {event.change_look for event in known})}
    return Memory(look.host, dict(named), stored, [e for e in known if e.host == look.host])


def _retell(session: WriteSession, look: Look) -> set[int]:
    """Tell the history anew that a look is part of, and return its looks.

    Where it is longer than is told anew, the first of it serves as a level, and the events that
    were seen there stay as they are.
    """
    chain, found = _chain(session, look)
    cells = {run.cell for of_look in found.values() for run in of_look}
    begin = WINDOW if len(chain) >= _most(cells) else 0
    before = events.of_looks(session, [each.number for each in chain[:begin]])
    old = events.of_looks(session, [each.number for each in chain[begin:]])
    screens.forget(session, look.host, cells)
    events.forget(session, [event.id for event in old])
    memory = Memory(
        look.host, {each.number: each for each in chain}, events=list(before), old=list(old)
    )
    for place, each in enumerate(chain):
        take(memory, each, found[each.number])
        if place < begin:
            memory.events, memory.fresh, memory.moved = list(before), [], []
    _store(session, memory, cells)
    _stand_alone(session, old, memory.fresh)
    return {each.number for each in chain}


def _chain(
    session: WriteSession, look: Look
) -> tuple[Sequence[Look], Mapping[int, Sequence[LookedRun]]]:
    """Return the looks of a history in order, and their runs: all that share cells with it."""
    chain: Sequence[Look] = [look]
    found = looks.runs(session, [look.number], metrics=WATCHED)
    cells: set[Cell] = set()
    for _ in range(ROUNDS):
        wider = {run.cell for of_look in found.values() for run in of_look}
        if wider == cells:
            break
        cells = wider
        chain = looks.of_cells(session, look.host, cells, limit=_most(cells))
        found = looks.runs(session, [each.number for each in chain], metrics=WATCHED)
    return chain, found


def _most(cells: Collection[Cell]) -> int:
    """Return how many looks of so many cells are told anew."""
    series = max(len(cells) * len(WATCHED), 1)
    return max(min(LOOKS_MAX, VALUES_MAX // series), KEPT)


def _store(session: WriteSession, memory: Memory, cells: Collection[Cell]) -> None:
    screens.keep(session, memory.screens.values())
    events.keep(session, memory.fresh, memory.moved)
    for event in memory.fresh:
        whole = events.like(session, event)
        if whole is not None:
            events.part(session, {event.id: whole.id})
    name_hosts(session, cells)


def _stand_alone(
    session: WriteSession, old: Sequence[StoredEvent], fresh: Sequence[StoredEvent]
) -> None:
    """Let the events of other hosts stand alone that were part of one that is no more."""
    gone = {event.id for event in old} - {event.id for event in fresh}
    events.part(session, {each.id: None for each in events.parts(session, gone)})
