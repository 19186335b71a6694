"""Queries that lease cards of hosts to runners: one runner a card, as long as it is heard of."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from service.store.card_lease_tables import CardLeaseRow
from service.store.database import ReadSession, WriteSession


class CardsLeasedError(PermissionError):
    """Another runner, heard of a moment ago, holds cards that this one says are its own."""

    def __init__(self, host: str, cards: Sequence[str], holders: Sequence[str]) -> None:
        super().__init__(
            f"on {host} {', '.join(cards)} belong to {', '.join(holders)}: give each runner of a "
            "host its own cards, and all of them the same KUNLINE_LOCK_DIR"
        )


def take(
    session: WriteSession,
    host: str,
    cards: Sequence[str],
    *,
    runner: str,
    now: datetime,
    until: datetime,
) -> None:
    """Lease cards to a runner, or lengthen its leases; in one statement.

    A lease that ended, or is the runner's own of an earlier life, is taken. Raises
    CardsLeasedError.
    """
    if not cards:
        return
    rows = [
        {"host": host, "card": card, "runner": runner, "lease_until": until}
        for card in sorted(set(cards))
    ]
    dialect = sqlite if session.get_bind().dialect.name == "sqlite" else postgresql
    fresh = dialect.insert(CardLeaseRow).values(rows)
    took = session.scalars(
        fresh.on_conflict_do_update(
            index_elements=["host", "card"],
            set_={"runner": fresh.excluded.runner, "lease_until": fresh.excluded.lease_until},
            where=or_(CardLeaseRow.runner == fresh.excluded.runner, CardLeaseRow.lease_until < now),
        ).returning(CardLeaseRow.card)
    )
    if missing := sorted(set(cards) - set(took)):
        raise CardsLeasedError(host, missing, _holders(session, host, missing))


def lengthen(session: WriteSession, runner: str, *, until: datetime) -> None:
    """Lengthen the leases that a runner holds; it was heard of."""
    session.execute(
        update(CardLeaseRow)
        .where(CardLeaseRow.runner == runner)
        .values(lease_until=until)
        .execution_options(synchronize_session=False)
    )


def _holders(session: ReadSession, host: str, cards: Sequence[str]) -> Sequence[str]:
    query = select(CardLeaseRow.runner).distinct()
    held = query.where(CardLeaseRow.host == host, CardLeaseRow.card.in_(cards))
    return sorted(session.scalars(held))
