"""What changes whenever something told of stored runs may change: texts of a few counts each.

A run is stored once and is never altered or deleted, so how many there are says which there are.
"""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import FromClause, Select, SelectBase, func, select, true

from service.domain.audit import Noun
from service.domain.cell import Cell
from service.store.database import ReadSession
from service.store.tables import (
    AuditRow,
    BaselineMoveRow,
    BaselineRow,
    ConfirmRow,
    ImportRow,
    IncidentRow,
    LaunchRow,
    LookRow,
    RunRow,
    SessionRow,
    WithdrawalRow,
)


def of_all(session: ReadSession) -> str:
    """Return a text that is another one once a session ended, or a person changed what counts.

    Runs of a session that still runs do not change it: they count once it has ended.
    """
    ended = select(func.count(SessionRow.finished_at), func.max(SessionRow.finished_at))
    imported = select(func.count(), func.max(ImportRow.stored_at))
    pinned = select(
        func.count(), func.max(BaselineRow.pinned_at), func.max(BaselineRow.replaced_at)
    )
    answered = select(
        func.count(), func.max(IncidentRow.triaged_at), func.max(IncidentRow.verified_at)
    )
    return _told(session, (ended, _withdrawn(), imported, pinned, answered))


def of_stacks(session: ReadSession, stack_keys: Collection[str]) -> str:
    """Return a text that is another one once a run of some stacks came, or counts otherwise.

    Whatever is told of their launches changes it as well.
    """
    keys = sorted(stack_keys)
    # One count for all of them, for it only ever grows.
    runs = select(func.count()).where(RunRow.stack_key.in_(keys))
    launches = _launches().where(LaunchRow.stack_key.in_(keys))
    withdrawn = _withdrawn().join(RunRow, RunRow.id == WithdrawalRow.run_id)
    of_theirs = withdrawn.where(RunRow.stack_key.in_(keys))
    return _told(session, (runs, launches, of_theirs))


def of_cell(session: ReadSession, cell: Cell) -> str:
    """Return a text that is another one once a run of a cell came, or any counts otherwise."""
    runs = select(func.count()).where(
        RunRow.condition_key == cell.condition_key, RunRow.protocol_key == cell.protocol_key
    )
    return _told(session, (runs, _launches(), _withdrawn()))


def of_pins(session: ReadSession, cell: Cell) -> str:
    """Return a text that is another one once a cell is held to something else, in any channel."""
    pinned = select(
        func.count(), func.max(BaselineRow.pinned_at), func.max(BaselineRow.replaced_at)
    ).where(
        BaselineRow.condition_key == cell.condition_key,
        BaselineRow.protocol_key == cell.protocol_key,
    )
    return _told(session, (pinned,))


def of_moves(session: ReadSession) -> str:
    """Return a text that is another one once a baseline moved."""
    return _told(session, (select(func.count()).select_from(BaselineMoveRow),))


def of_incidents(session: ReadSession) -> str:
    """Return a text that is another one once anything was done to an incident, or a confirm ended.

    Whatever a person or a confirm does to one is audited; a fix that is seen is not.
    """
    audited = select(func.count()).where(AuditRow.noun == Noun.INCIDENT.value)
    opened = select(func.count(), func.count(IncidentRow.verified_at)).select_from(IncidentRow)
    confirmed = select(func.count(), func.max(ConfirmRow.changed_at))
    return _told(session, (audited, opened, confirmed))


def of_looks(session: ReadSession) -> str:
    """Return a text that is another one once the screen looked at something, or did so anew."""
    looked = select(func.count(), func.max(LookRow.number))
    return _told(session, (looked, _withdrawn()))


def _launches() -> Select[int, int, int, datetime | None]:
    stopped, broken = LaunchRow.stopped_at, LaunchRow.broken
    counts = func.count(), func.count(stopped), func.count(broken), func.max(stopped)
    return select(*counts).select_from(LaunchRow)


def _withdrawn() -> Select[int, datetime]:
    return select(func.count(), func.max(WithdrawalRow.withdrawn_at))


def _told(session: ReadSession, counts: Sequence[SelectBase]) -> str:
    """Return some counts, each of which is one row, asked for in one statement."""
    found = [query.subquery() for query in counts]
    together: FromClause = found[0]
    for each in found[1:]:
        together = together.join(each, true())
    columns = [column for each in found for column in each.c]
    return repr(tuple(session.execute(select(*columns).select_from(together)).one()))
