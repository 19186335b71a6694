"""Routes of costs: what cells took when they were measured before."""

from typing import Annotated

from fastapi import APIRouter, Query

from service.api.access import MayRead
from service.api.door import Opened
from service.api.noise import CONDITIONS_MAX, ConditionKey
from service.formats.costs import CostRead
from service.usecases.read_costs import read_costs

router = APIRouter(prefix="/costs", tags=["costs"])


@router.get("")
def read_all(
    door: Opened,
    _: MayRead,
    condition_key: Annotated[list[ConditionKey], Query(min_length=1, max_length=CONDITIONS_MAX)],
) -> tuple[CostRead, ...]:
    """Return what some cells cost; one that nobody measured here is left out."""
    with door.reading() as session:
        return read_costs(session, condition_key)
