"""Routes of the matrix: verdicts cell by cell, and what there is to be judged."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from service.api.access import MayRead
from service.api.door import Door, Opened
from service.api.pieces import pieces_of
from service.api.unchanged import resting
from service.domain.cell import Cell
from service.formats.matrix_view import MatrixRead, MetricRead
from service.store import judged
from service.store.judged import Judged
from service.usecases import judge_squares
from service.usecases.read_matrix import MatrixQuestion, list_metrics, read_matrix, rests_on

router = APIRouter(tags=["matrix"])

STACKS_MAX = 20

StackKey = Annotated[str, Query(pattern=r"^[0-9a-f]{6,64}$")]
MetricName = Annotated[str, Query(max_length=64)]
Channel = Annotated[str, Query(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+=-]{0,127}$")]
Cursor = Annotated[str | None, Query(pattern=r"^[0-9a-f]{64}\.[0-9a-f]{64}$")]


@router.get("/metrics")
def read_metrics(_: MayRead) -> tuple[MetricRead, ...]:
    """Return the closed list of what is measured."""
    return list_metrics()


@router.get("/matrix", response_model=MatrixRead)
def read(
    request: Request,
    door: Opened,
    _: MayRead,
    stack: Annotated[list[StackKey] | None, Query(max_length=STACKS_MAX)] = None,
    metric: Annotated[list[MetricName] | None, Query(max_length=STACKS_MAX)] = None,
    baseline: Annotated[str | None, Query(pattern=r"^[0-9a-f]{6,64}$")] = None,
    channel: Channel = "main",
    model: Annotated[str | None, Query(max_length=256)] = None,
    limit: Annotated[int, Query(ge=1, le=2000)] = 1000,
    cursor: Cursor = None,
) -> Response:
    """Return the verdicts on some stacks, cell by cell; without any, on the one measured last.

    An answer holds at most 3,000 squares, so of many stacks it has fewer rows than were asked for.
    """
    asked = MatrixQuestion(
        stacks=stack or (),
        metrics=metric or (),
        channel=channel,
        baseline=baseline,
        model=model,
        limit=limit,
        after=None if cursor is None else Cell(*cursor.split(".")),
    )
    rule = rule_of(request)
    fresh: list[Judged] = []
    pieces = pieces_of(request)

    def tell() -> bytes:
        matrix, found = read_matrix(
            session, asked, rule=rule, rows=pieces.rows, squares=pieces.squares
        )
        fresh.extend(found)
        return matrix

    with door.reading_at_once() as session:
        answer = resting(request, rests_on(session, asked, rule=rule), tell)
    keep(door, fresh)
    return answer


def rule_of(request: Request) -> str:
    """Return what answers that are kept were judged by."""
    return judge_squares.rule_of(request.app.version)


def keep(door: Door, fresh: Sequence[Judged]) -> None:
    """Keep what had to be judged, so that whoever asks next need not wait for it."""
    if fresh:
        with door.writing() as session:
            judged.keep(session, fresh, now=door.now())
