"""Routes of scaling: several cards against one, and what their messages cost."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from service.api.access import MayRead
from service.api.door import Opened
from service.api.pieces import pieces_of
from service.api.unchanged import resting
from service.formats.communications import CommunicationRead
from service.formats.scaling import ScalingRead
from service.usecases.read_communication import read_communication
from service.usecases.read_scaling import ScalingQuestion, read_scaling, rests_on

router = APIRouter(tags=["scaling"])


@router.get("/scaling", response_model=ScalingRead)
def read(
    request: Request,
    door: Opened,
    _: MayRead,
    stack: Annotated[str | None, Query(max_length=128)] = None,
    host: Annotated[str | None, Query(max_length=128)] = None,
    model: Annotated[str | None, Query(max_length=256)] = None,
    metric: Annotated[str, Query(max_length=64)] = "output_throughput",
    limit: Annotated[int, Query(ge=1, le=2000)] = 500,
) -> Response:
    """Return every pair of one and several cards that one stack measured alike on one host."""
    asked = ScalingQuestion(metric=metric, stack=stack, host=host, model=model, limit=limit)
    with door.reading_at_once() as session:
        mark = rests_on(session, asked)
        rows, squares = pieces_of(request).scaled, pieces_of(request).squares
        return resting(
            request, mark, lambda: read_scaling(session, asked, rows=rows, squares=squares)
        )


@router.get("/communication")
def read_messages(door: Opened, _: MayRead, session_id: UUID) -> CommunicationRead:
    """Return the share of TTFT and TPOT that is communication, cell by cell of a session."""
    with door.reading() as session:
        return read_communication(session, session_id, files=door.files)
