"""Queries that keep and return withdrawals: one a run, as long as it is in force."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from typing import Any
from uuid import UUID

from sqlalchemy import delete, select

from service.domain.withdrawal import Withdrawal
from service.store.database import ReadSession, WriteSession
from service.store.inserts import took
from service.store.tables import WithdrawalRow

NAMES = tuple(field.name for field in fields(Withdrawal))
# As many run ids as one statement names at most.
BATCH = 500


def keep(session: WriteSession, withdrawal: Withdrawal) -> bool:
    """Withdraw a run and return True; return False where it is withdrawn already."""
    return took(session, WithdrawalRow, {name: getattr(withdrawal, name) for name in NAMES})


def end(session: WriteSession, run_id: UUID) -> None:
    """Take a withdrawal back; the audit has what it was."""
    session.execute(
        delete(WithdrawalRow)
        .where(WithdrawalRow.run_id == run_id)
        .execution_options(synchronize_session=False)
    )


def find(session: ReadSession, run_id: UUID) -> Withdrawal | None:
    """Return the withdrawal in force of a run, or None."""
    return of_runs(session, [run_id]).get(run_id)


def of_runs(session: ReadSession, run_ids: Collection[UUID]) -> Mapping[UUID, Withdrawal]:
    """Return the withdrawals in force among some runs."""
    wanted = sorted(run_ids)
    found: dict[UUID, Withdrawal] = {}
    for start in range(0, len(wanted), BATCH):
        some: Sequence[UUID] = wanted[start : start + BATCH]
        query = select(WithdrawalRow.__table__).where(WithdrawalRow.run_id.in_(some))
        for row in session.execute(query).mappings():
            told: dict[str, Any] = dict(row)
            found[row["run_id"]] = Withdrawal(**told)
    return found
