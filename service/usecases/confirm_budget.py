"""What confirms may cost: one budget of launches and card time for all of them in 24 hours."""

from datetime import datetime, timedelta
from uuid import UUID

from service.domain.confirm import Budget, Cost
from service.formats.confirms import BudgetRead, CostRead
from service.store import confirms
from service.store.database import ReadSession

# What all confirms may cost is spent within this time.
NIGHT = timedelta(hours=24)


def night_left(
    session: ReadSession, night: Cost, *, now: datetime, without: UUID | None = None
) -> Cost:
    """Return what is left of the budget that all confirms share. without: one not counted."""
    return night.less(confirms.spent(session, since=now - NIGHT, without=without))


def read_budget(session: ReadSession, budget: Budget, *, now: datetime) -> BudgetRead:
    """Return what confirms may cost, and what those of the last 24 hours do."""
    spent = confirms.spent(session, since=now - NIGHT)
    return BudgetRead(
        automatic=budget.automatic,
        night=CostRead.of(budget.night),
        each=CostRead.of(budget.each),
        spent=CostRead.of(spent),
        left=CostRead.of(budget.night.less(spent)),
    )
