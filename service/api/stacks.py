"""Routes of stacks, conditions and protocols: what the keys stand for, how two stacks differ."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from service.api.access import MayRead
from service.api.door import Opened
from service.formats.identities import KeyedCondition, KeyedProtocol, StackAsked, StackOrder
from service.formats.stack_differences import StackDifference
from service.usecases.read_identities import (
    diff_stacks,
    list_stacks,
    read_condition,
    read_protocol,
    read_stack,
)

router = APIRouter(tags=["identities"])

StackKey = Annotated[StackAsked, Path()]
ContentKey = Annotated[str, Path(pattern=r"^[0-9a-f]{64}$")]


@router.get("/stacks")
def read_stacks(
    door: Opened, _: MayRead, limit: Annotated[int, Query(ge=1, le=500)] = 100
) -> tuple[StackOrder, ...]:
    """Return stacks, the newest built first."""
    with door.reading() as session:
        return list_stacks(session, limit=limit)


@router.get("/stacks/{key}")
def stack(door: Opened, _: MayRead, key: StackKey) -> StackOrder:
    """Return the one stack of this name, or whose key begins like this."""
    with door.reading() as session:
        return read_stack(session, key)


@router.get("/stacks/{key}/diff/{candidate}")
def diff(door: Opened, _: MayRead, key: StackKey, candidate: StackKey) -> StackDifference:
    """Return how a stack differs from another one, component by component."""
    with door.reading() as session:
        return diff_stacks(session, key, candidate)


@router.get("/conditions/{key}")
def condition(door: Opened, _: MayRead, key: ContentKey) -> KeyedCondition:
    """Return one condition."""
    with door.reading() as session:
        return read_condition(session, key)


@router.get("/protocols/{key}")
def protocol(door: Opened, _: MayRead, key: ContentKey) -> KeyedProtocol:
    """Return one protocol."""
    with door.reading() as session:
        return read_protocol(session, key)
