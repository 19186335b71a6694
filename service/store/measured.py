"""Queries that say which squares of the matrix are measured, and on what a verdict would rest."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Text, cast, func, select

from service.domain.cell import Cell
from service.store.among import among
from service.store.database import ReadSession
from service.store.tables import LaunchRow, RunRow, WithdrawalRow

SQUARE = (RunRow.stack_key, RunRow.condition_key, RunRow.protocol_key, RunRow.host)
# About what a square takes in memory, with its name.
SQUARE_BYTES = 2000

# A stack, a condition, a protocol, a host, and how many runs.
Counted = tuple[str, str, str, str, int]


class Measured(NamedTuple):
    """The runs of one stack in one cell on one host, as far as it takes to see that they changed.

    A run never changes by itself: its launch may be told of later, and a person may withdraw it.
    first_at, measured_at: when the first and the last of them was measured. one_session: whether
    all of a session are of the same. A tuple, for a page holds thousands of them to what it knows.
    """

    stack_key: str
    cell: Cell
    host: str
    runs: int
    first_at: datetime
    measured_at: datetime
    launches: int
    one_session: bool | None
    stopped_at: datetime | None
    withdrawn: int
    withdrawn_at: datetime | None

    @property
    def state(self) -> str:
        """A text that is another one once anything of it changed."""
        return f"{self.runs} {self.launches} {self.stopped_at} {self.withdrawn} {self.withdrawn_at}"

    @property
    def told(self) -> tuple[object, ...]:
        """All of it but the stack and the cell: another tuple once anything of it changed."""
        return self[2:]

    @property
    def weight(self) -> int:
        """About the bytes that it takes."""
        return SQUARE_BYTES


def of_stacks(
    session: ReadSession,
    stack_keys: Collection[str],
    *,
    conditions: Collection[str] | None = None,
    limit: int,
) -> Sequence[Measured]:
    """Return what is measured of some stacks, cell by cell and host by host.

    conditions: under these alone; None for all.
    """
    session_id = cast(RunRow.session_id, Text)
    query = (
        select(
            *SQUARE,
            func.count(),
            func.min(RunRow.measured_at),
            func.max(RunRow.measured_at),
            func.count(LaunchRow.id),
            # To count how many they are would sort all runs.
            func.min(session_id) == func.max(session_id),
            func.max(LaunchRow.stopped_at),
            func.count(WithdrawalRow.run_id),
            func.max(WithdrawalRow.withdrawn_at),
        )
        .outerjoin(LaunchRow, LaunchRow.id == RunRow.launch_id)
        .outerjoin(WithdrawalRow, WithdrawalRow.run_id == RunRow.id)
        .where(RunRow.stack_key.in_(stack_keys))
        .group_by(*SQUARE)
        .limit(limit)
    )
    if conditions is not None:
        query = query.where(among(session, RunRow.condition_key, conditions))
    # Past the ORM, which would make thousands of rows anew.
    rows = session.connection().execute(query).all()
    return [
        Measured(stack_key, Cell(condition_key, protocol_key), host, *told)
        for stack_key, condition_key, protocol_key, host, *told in rows
    ]


def counts(session: ReadSession, stack_keys: Collection[str], *, limit: int) -> Sequence[Counted]:
    """Return where some stacks were measured, and in how many runs: of an index alone."""
    query = select(*SQUARE, func.count()).where(RunRow.stack_key.in_(stack_keys))
    rows = session.connection().execute(query.group_by(*SQUARE).limit(limit)).all()
    return [
        (stack_key, condition_key, protocol_key, host, runs)
        for stack_key, condition_key, protocol_key, host, runs in rows
    ]


def launched(session: ReadSession, stack_keys: Collection[str]) -> Mapping[str, str]:
    """Return a text for each stack that is another one once its runs count otherwise.

    It follows what is told of its launches, and which of its runs are withdrawn.
    """
    stopped = LaunchRow.stopped_at
    launches = (
        select(LaunchRow.stack_key, func.count(), func.count(stopped), func.max(stopped))
        .where(LaunchRow.stack_key.in_(stack_keys))
        .group_by(LaunchRow.stack_key)
    )
    withdrawn = (
        select(RunRow.stack_key, func.count(), func.max(WithdrawalRow.withdrawn_at))
        .join(WithdrawalRow, WithdrawalRow.run_id == RunRow.id)
        .where(RunRow.stack_key.in_(stack_keys))
        .group_by(RunRow.stack_key)
    )
    found: dict[str, str] = defaultdict(str)
    for query in (launches, withdrawn):
        for stack_key, *told in session.execute(query):
            found[stack_key] += repr(told)
    return found


def last_stack(session: ReadSession, *, without: Collection[str]) -> str | None:
    """Return the stack of the run stored last, other than some; None where there is none."""
    query = select(RunRow.stack_key).where(RunRow.stack_key.not_in(without))
    return session.scalar(query.order_by(RunRow.stored_at.desc(), RunRow.id.desc()).limit(1))
