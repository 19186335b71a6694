"""Routes of schedules: what is measured every night."""

from typing import Annotated

from fastapi import APIRouter, Path

from service.api.access import MayRead, MayRun
from service.api.callers import name_of
from service.api.door import Opened
from service.formats.schedules import ScheduleChange, ScheduleChanged, ScheduleOrder, ScheduleRead
from service.usecases.keep_schedule import change_schedule, list_schedules, set_schedule

router = APIRouter(prefix="/schedules", tags=["schedules"])

Named = Annotated[str, Path(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+=-]{0,127}$")]


@router.put("/{name}")
def put(door: Opened, caller: MayRun, name: Named, order: ScheduleOrder) -> ScheduleRead:
    """Store what is measured every night, in place of the schedule of that name."""
    who = name_of(caller, order.who)
    with door.writing() as session:
        return set_schedule(session, name, order, who=who, now=door.now())


@router.post("/{name}/change")
def change(door: Opened, caller: MayRun, name: Named, wanted: ScheduleChange) -> ScheduleChanged:
    """Pause, resume or remove a schedule."""
    who = name_of(caller, wanted.who)
    with door.writing() as session:
        changed = change_schedule(session, name, wanted, who=who, now=door.now())
    return ScheduleChanged(schedule=changed)


@router.get("")
def read_all(door: Opened, _: MayRead) -> tuple[ScheduleRead, ...]:
    """Return every schedule, by name."""
    with door.reading() as session:
        return list_schedules(session, now=door.now())
