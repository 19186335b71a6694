"""Routes of comparisons: two runs, or two stacks, by the one rule."""

from typing import Annotated

from fastapi import APIRouter, Query

from service.api.access import MayRead
from service.api.door import Opened
from service.domain.policy import Policy
from service.formats.comparisons import CellsCompared
from service.formats.identities import Name
from service.usecases.compare_stored import compare_stored

router = APIRouter(prefix="/comparisons", tags=["comparisons"])

Side = Annotated[
    Name, Query(description="A run's id, or a stack: its key, how that begins, or its name.")
]
MinRepeats = Annotated[int, Query(ge=1, le=10_000, description="Fewest repeats of the baseline.")]


@router.get("")
def compare(
    door: Opened, _: MayRead, baseline: Side, candidate: Side, min_repeats: MinRepeats = 5
) -> CellsCompared:
    """Compare what is stored of two runs or two stacks; unlike conditions are refused by field."""
    with door.reading() as session:
        return compare_stored(
            session,
            baseline=baseline,
            candidate=candidate,
            policy=Policy(min_repeats=min_repeats),
        )
