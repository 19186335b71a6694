"""Routes of comparisons: two runs, or two stacks, by the one rule."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from service.api.access import MayRead
from service.api.door import Opened
from service.api.matrix import keep, rule_of
from service.api.pieces import pieces_of
from service.api.unchanged import resting, tagged
from service.domain.policy import Policy
from service.formats.comparisons import CellsCompared
from service.formats.identities import Name
from service.store.judged import Judged
from service.usecases.compare_stacks import StacksAsked
from service.usecases.compare_stored import compare_stored
from service.usecases.whole_answers import comparison_of_stacks, stacks_asked

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
    policy = Policy(min_repeats=min_repeats)
    fresh: list[Judged] = []

    def tell(asked: StacksAsked) -> str:
        pieces = pieces_of(request)
        found = comparison_of_stacks(
            session, asked, policy=policy, cells=pieces.cells, squares=pieces.squares
        )
        fresh.extend([found.fresh] if found.fresh else [])
        return found.text

    with door.reading_at_once() as session:
        asked = stacks_asked(session, baseline, candidate, rule=rule_of(request))
        if asked is None:
            compared = compare_stored(
                session, baseline=baseline, candidate=candidate, policy=policy
            )
            return tagged(request, compared)
        answer = resting(request, asked.rests_on, partial(tell, asked))
    keep(door, fresh)
    return answer
