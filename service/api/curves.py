"""Routes of curves: throughput beside latency, and capacity under limits that a reader sets."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from service.api.access import MayRead
from service.api.door import Opened
from service.api.pieces import pieces_of
from service.api.unchanged import resting
from service.formats.curves import CurvesRead
from service.usecases.read_curves import CurveQuestion, read_curves, rests_on

router = APIRouter(prefix="/curves", tags=["curves"])

STACKS_MAX = 4
LATENCIES = ("ttft_p50", "tpot_p50")

StackAsked = Annotated[str, Query(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+=-]{0,127}$")]
MetricName = Annotated[str, Query(max_length=64)]
AtMost = Annotated[
    str,
    Query(
        pattern=r"^[a-z][a-z0-9_]{0,63}:[0-9]{1,6}(\.[0-9]{1,9})?$",
        description="A latency and the most seconds it may take: ttft_p99:0.5",
    ),
]


@router.get("", response_model=CurvesRead)
def read(
    request: Request,
    door: Opened,
    _: MayRead,
    stack: Annotated[list[StackAsked], Query(min_length=1, max_length=STACKS_MAX)],
    latency: Annotated[list[MetricName] | None, Query(max_length=4)] = None,
    at_most: Annotated[list[AtMost] | None, Query(max_length=4)] = None,
    traffic: Annotated[
        float | None, Query(gt=0, le=1e12, description="Output tokens per second to be served.")
    ] = None,
    host: Annotated[str | None, Query(max_length=128)] = None,
    model: Annotated[str | None, Query(max_length=256)] = None,
) -> Response:
    """Return throughput and latency over the measured loads, and the highest that keeps limits.

    Loads are never read between two that were measured, nor beyond the highest.
    """
    asked = CurveQuestion(
        stacks=stack,
        latencies=latency or LATENCIES,
        limits=_limits(at_most or ()),
        traffic=traffic,
        host=host,
        model=model,
    )
    with door.reading_at_once() as session:
        mark = rests_on(session, asked)
        sides, squares = pieces_of(request).sides, pieces_of(request).squares
        return resting(
            request, mark, lambda: read_curves(session, asked, sides=sides, squares=squares)
        )


def _limits(given: Sequence[str]) -> Mapping[str, float]:
    pairs = (each.partition(":") for each in given)
    return {name: float(most) for name, _, most in pairs}
