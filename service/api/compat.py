"""Routes of the compatibility table: pages, cells, pivots and histories of what was measured."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from service.api.access import MayRead
from service.api.door import Door, Opened
from service.api.matrix import rule_of
from service.api.unchanged import tagged
from service.domain.compat import CompatState
from service.formats.compat import CompatCells, CompatHistory, CompatPage, CompatPivot
from service.formats.identities import StackAsked
from service.store import compat
from service.store.compat import CompatFilter
from service.usecases.derive_compat import compat_rule, derive_compat
from service.usecases.read_compat import list_compat, read_cells, read_history, read_pivot

router = APIRouter(prefix="/compat", tags=["compat"])

# Whoever asks waits for so many stacks to be told anew; the sweep tells the others.
TOLD_AT_ONCE = 8

StackKey = Annotated[StackAsked, Path()]
ContentKey = Annotated[str, Path(pattern=r"^[0-9a-f]{64}$")]
KeyAsked = Annotated[str, Query(pattern=r"^[0-9a-f]{64}$")]
Component = Annotated[str, Query(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$")]
Word = Annotated[str | None, Query(max_length=256, pattern=r"^[^\x00]*$")]
Version = Annotated[
    str,
    Query(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}=[^=\x00]{1,400}$"),
]


def asked(
    model: Word = None,
    card_model: Word = None,
    state: Annotated[list[CompatState] | None, Query(max_length=4)] = None,
    stack: Annotated[list[KeyAsked] | None, Query(max_length=50)] = None,
    component: Annotated[
        list[Version] | None, Query(max_length=10, description="component=version")
    ] = None,
) -> CompatFilter:
    """Return which stacks are asked for."""
    pairs = (each.partition("=") for each in component or ())
    return CompatFilter(
        model=model,
        card_model=card_model,
        states=tuple(state or ()),
        stack_keys=tuple(stack or ()),
        components={name: version for name, _, version in pairs},
    )


def refreshed(door: Door, request: Request) -> None:
    """Tell anew what changed since somebody last looked, as far as it takes no long time."""
    rule = rule_of(request)
    with door.reading() as session:
        if compat.due_count(session, rule=compat_rule(rule)) <= 0:
            return
    with door.writing() as session:
        derive_compat(session, rule=rule, limit=TOLD_AT_ONCE, now=door.now())


Wanted = Annotated[CompatFilter, Depends(asked)]


@router.get("", response_model=CompatPage)
def read_all(
    request: Request,
    door: Opened,
    _: MayRead,
    wanted: Wanted,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    cursor: Annotated[str | None, Query(max_length=2000)] = None,
) -> Response:
    """Return lines of the table: a stack for one model on one kind of card, newest built first.

    Of a model that is asked for, stacks that were never measured are there as untested.
    """
    refreshed(door, request)
    with door.reading() as session:
        page = list_compat(session, wanted, rule=rule_of(request), limit=limit, cursor=cursor)
    return tagged(request, page)


@router.get("/pivot")
def pivot(
    request: Request, door: Opened, _: MayRead, wanted: Wanted, row: Component, column: Component
) -> CompatPivot:
    """Return the table turned by the versions of any two components."""
    refreshed(door, request)
    with door.reading() as session:
        return read_pivot(session, row, column, wanted)


@router.get("/stacks/{key}")
def cells(request: Request, door: Opened, _: MayRead, wanted: Wanted, key: StackKey) -> CompatCells:
    """Return one stack, cell by cell."""
    refreshed(door, request)
    with door.reading() as session:
        return read_cells(session, key, wanted)


@router.get("/cells/{condition_key}")
def history(
    request: Request,
    door: Opened,
    _: MayRead,
    condition_key: ContentKey,
    component: Component | None = None,
) -> CompatHistory:
    """Return what became of one cell, stack by stack: 'worked until xre 5.19.0.0'."""
    refreshed(door, request)
    with door.reading() as session:
        return read_history(session, condition_key, component=component)
