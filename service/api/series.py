"""Routes of series: the runs of a cell and metric in the order their stacks were built."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from service.api.access import MayRead
from service.api.door import Opened
from service.api.pieces import pieces_of
from service.api.unchanged import resting
from service.domain.cell import Cell
from service.formats.series import SeriesOutline, SeriesRead
from service.store import series
from service.store.series import SeriesKey
from service.usecases.read_series import (
    OUTLINED_MAX,
    outline_series,
    read_series,
    rests_on,
)

router = APIRouter(prefix="/series", tags=["series"])

KeyAsked = Annotated[str, Query(pattern=r"^[0-9a-f]{64}$")]
MetricName = Annotated[str, Query(max_length=64)]
Channel = Annotated[str, Query(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+=-]{0,127}$")]


async def _asked(
    condition_key: KeyAsked,
    protocol_key: KeyAsked,
    metric: MetricName,
    host: Annotated[str | None, Query(max_length=128)] = None,
) -> SeriesKey:
    """Return whose series is asked for."""
    return SeriesKey(Cell(condition_key, protocol_key), metric, host)


Asked = Annotated[SeriesKey, Depends(_asked)]


@router.get("", response_model=SeriesRead)
def read(
    request: Request,
    door: Opened,
    _: MayRead,
    key: Asked,
    channel: Channel = "main",
    limit: Annotated[int, Query(ge=1, le=2000)] = 500,
    cursor: Annotated[str | None, Query(max_length=400)] = None,
) -> Response:
    """Return the newest runs of a series in order, with every repeat and the baseline's band."""
    screened = pieces_of(request).screened
    with door.reading_at_once() as session:
        return resting(
            request,
            rests_on(session, key),
            lambda: read_series(
                session, key, channel=channel, limit=limit, cursor=cursor, screened=screened
            ),
        )


@router.get("/outline", response_model=SeriesOutline)
def outline(
    request: Request,
    door: Opened,
    _: MayRead,
    key: Asked,
    points: Annotated[int, Query(ge=1, le=OUTLINED_MAX)] = 2000,
) -> Response:
    """Return a whole series in columns, neighbours put together where it is long."""
    outlined = pieces_of(request).outlined
    with door.reading_at_once() as session:
        # What it rests on is what it is told by as well: there may be very much to count.
        by_stack = series.by_stack(session, key)
        return resting(
            request,
            repr(by_stack),
            lambda: outline_series(session, key, by_stack, points=points, outlined=outlined),
        )
