"""Routes of baselines: pin a stack, and show what is pinned."""

from typing import Annotated

from fastapi import APIRouter, Query

from service.api.access import MayRead, MayTriage
from service.api.callers import name_of
from service.api.door import Opened
from service.formats.baselines import BaselinePin, BaselineRead
from service.usecases.pin_baseline import list_baselines, pin_baseline

router = APIRouter(prefix="/baselines", tags=["baselines"])


@router.post("", status_code=201)
def pin(door: Opened, caller: MayTriage, wanted: BaselinePin) -> tuple[BaselineRead, ...]:
    """Pin a stack as the baseline of the cells it was measured in."""
    who = name_of(caller, wanted.who)
    with door.writing() as session:
        return pin_baseline(session, wanted, who=who, now=door.now())


@router.get("")
def read_all(
    door: Opened,
    _: MayRead,
    channel: Annotated[str | None, Query(max_length=128)] = None,
    history: bool = False,
) -> tuple[BaselineRead, ...]:
    """Return the pins in force, or with history those they replaced as well."""
    with door.reading() as session:
        return list_baselines(session, channel=channel, history=history)
