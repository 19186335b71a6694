"""Routes of comparisons: two runs, or two stacks, by the one rule."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from service.api.access import MayRead
from service.api.door import Opened
from service.api.matrix import keep, rule_of
from service.api.unchanged import tagged
from service.domain.policy import Policy
from service.formats.comparisons import CellsCompared
from service.formats.identities import Name
from service.usecases.whole_answers import comparison_of

router = APIRouter(prefix="/comparisons", tags=["comparisons"])

Side = Annotated[
    Name, Query(description="A run's id, or a stack: its key, how that begins, or its name.")
]
MinRepeats = Annotated[int, Query(ge=1, le=10_000, description="Fewest repeats of the baseline.")]


@router.get("", response_model=CellsCompared)
def compare(
    request: Request,
    door: Opened,
    _: MayRead,
    baseline: Side,
    candidate: Side,
    min_repeats: MinRepeats = 5,
) -> Response:
    """Compare what is stored of two runs or two stacks; unlike conditions are refused by field."""
    with door.reading() as session:
        found = comparison_of(
            session,
            baseline=baseline,
            candidate=candidate,
            policy=Policy(min_repeats=min_repeats),
            rule=rule_of(request),
        )
    keep(door, [found.fresh] if found.fresh else [])
    return tagged(request, found.text)
