"""Queries that say which squares of the matrix are measured, and on what a verdict would rest."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select

from service.domain.cell import Cell
from service.store.database import ReadSession
from service.store.tables import LaunchRow, NoiseRow, RunRow, WithdrawalRow


@dataclass(frozen=True, slots=True)
class Measured:
    """The runs of one stack in one cell on one host, as far as it takes to see that they changed.

    A run never changes by itself: its launch may be told of later, and a person may withdraw it.
    """

    stack_key: str
    cell: Cell
    host: str
    runs: int
    measured_at: datetime
    stored_at: datetime
    launches: int
    sessions: int
    stopped_at: datetime | None
    withdrawn: int
    withdrawn_at: datetime | None

    @property
    def state(self) -> str:
        """A text that is another one once anything of it changed."""
        return (
            f"{self.runs} {self.stored_at} {self.launches} {self.stopped_at} "
            f"{self.withdrawn} {self.withdrawn_at}"
        )


def of_stacks(
    session: ReadSession, stack_keys: Collection[str], *, limit: int
) -> Sequence[Measured]:
    """Return what is measured of some stacks, cell by cell and host by host."""
    square = (RunRow.stack_key, RunRow.condition_key, RunRow.protocol_key, RunRow.host)
    rows = session.execute(
        select(
            *square,
            func.count(),
            func.max(RunRow.measured_at),
            func.max(RunRow.stored_at),
            func.count(LaunchRow.id),
            func.count(RunRow.session_id.distinct()),
            func.max(LaunchRow.stopped_at),
            func.count(WithdrawalRow.run_id),
            func.max(WithdrawalRow.withdrawn_at),
        )
        .outerjoin(LaunchRow, LaunchRow.id == RunRow.launch_id)
        .outerjoin(WithdrawalRow, WithdrawalRow.run_id == RunRow.id)
        .where(RunRow.stack_key.in_(stack_keys))
        .group_by(*square)
        .limit(limit)
    )
    return [
        Measured(stack_key, Cell(condition_key, protocol_key), host, *told)
        for stack_key, condition_key, protocol_key, host, *told in rows
    ]


def squares_of_stacks(
    session: ReadSession, stack_keys: Collection[str], *, limit: int
) -> Sequence[tuple[str, Cell, str]]:
    """Return where some stacks were measured: the stack, the cell and the host, each once."""
    square = (RunRow.stack_key, RunRow.condition_key, RunRow.protocol_key, RunRow.host)
    rows = session.execute(
        select(*square).where(RunRow.stack_key.in_(stack_keys)).distinct().limit(limit)
    )
    return [(stack, Cell(condition, protocol), host) for stack, condition, protocol, host in rows]


def histories(
    session: ReadSession, condition_keys: Collection[str]
) -> Mapping[tuple[Cell, str], str]:
    """Return a text for each cell and host that is another one once more is known of its noise."""
    square = (NoiseRow.condition_key, NoiseRow.protocol_key, NoiseRow.host)
    rows = session.execute(
        select(*square, func.count(), func.max(NoiseRow.measured_at))
        .where(NoiseRow.condition_key.in_(condition_keys))
        .group_by(*square)
    )
    return {
        (Cell(condition_key, protocol_key), host): f"{told} {measured_at}"
        for condition_key, protocol_key, host, told, measured_at in rows
    }


def last_stack(session: ReadSession, *, without: Collection[str]) -> str | None:
    """Return the stack of the run stored last, other than some; None where there is none."""
    query = select(RunRow.stack_key).where(RunRow.stack_key.not_in(without))
    return session.scalar(query.order_by(RunRow.stored_at.desc(), RunRow.id.desc()).limit(1))
