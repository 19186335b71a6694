"""Begin nights: queue the session of every schedule whose time has come."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from uuid import UUID

from service.domain.plan import latin_row
from service.domain.schedule import night_due, on_rotation
from service.formats.orders import LaunchOrder
from service.formats.sessions import SessionOrder
from service.store import schedules
from service.store.database import WriteSession
from service.store.schedules import StoredSchedule
from service.usecases.keep_schedule import is_held_up, timing_of
from service.usecases.submit_session import submit_session


def begin_nights(session: WriteSession, *, now: datetime) -> tuple[UUID, ...]:
    """Queue the sessions that are due and return their ids; each night is begun once.

    A night whose predecessor is still being measured waits for its end.
    """
    begun = (_begin(session, schedule, now) for schedule in schedules.all_of_them(session))
    return tuple(session_id for session_id in begun if session_id is not None)


def with_duplicates(order: SessionOrder, *, night: date, count: int) -> SessionOrder:
    """Return a session with some of its launches measured once more, on rotation.

    A launch group is one stack and the cells that share its server. Its duplicate stands behind
    its last launch, and measures its seeds in another order.
    """
    groups = list(dict.fromkeys(map(_group, order.launches)))
    twice = {groups[place] for place in on_rotation(len(groups), night=night, count=count)}
    last = {_group(launch): place for place, launch in enumerate(order.launches)}
    launches: list[LaunchOrder] = []
    for place, launch in enumerate(order.launches):
        launches.append(launch)
        if _group(launch) in twice and last[_group(launch)] == place:
            launches.append(_once_more(launch))
    return order.model_copy(update={"launches": tuple(launches)})


def _begin(session: WriteSession, schedule: StoredSchedule, now: datetime) -> UUID | None:
    if schedule.paused or is_held_up(session, schedule):
        return None
    night = night_due(timing_of(schedule), last=schedule.night, now=now)
    if night is None:
        return None
    order = SessionOrder.model_validate(schedule.content)
    session_id = submit_session(
        session,
        with_duplicates(order, night=night, count=schedule.duplicates),
        # Two sweeps at one time queue one session.
        idempotency_key=f"schedule/{schedule.name}/{night}/{schedule.since.isoformat()}",
        now=now,
    )
    schedules.keep(session, replace(schedule, night=night, session_id=session_id))
    return session_id


def _group(launch: LaunchOrder) -> tuple[str, Sequence[tuple[str, str]]]:
    cells = tuple((cell.condition_key, cell.protocol_key) for cell in launch.cells)
    return launch.stack_key, cells


def _once_more(launch: LaunchOrder) -> LaunchOrder:
    cells = tuple(
        cell.model_copy(update={"seeds": latin_row(cell.seeds, 1)}) for cell in launch.cells
    )
    return launch.model_copy(update={"cells": cells})
