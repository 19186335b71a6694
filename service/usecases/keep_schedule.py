"""Keep schedules: what is measured every night, and who changed it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from service.domain.audit import Act, Entry, Noun
from service.domain.schedule import Timing, clock_time, next_begin
from service.formats.schedules import ScheduleChange, ScheduleOrder, ScheduleRead
from service.store import audits, schedules, sessions
from service.store.database import ReadSession, WriteSession
from service.store.schedules import SCHEDULES_MAX, StoredSchedule


class TooManySchedulesError(ValueError):
    """There are as many schedules as there may be."""

    def __init__(self) -> None:
        super().__init__(f"there are {SCHEDULES_MAX} schedules already: remove one first")


def set_schedule(
    session: WriteSession, name: str, order: ScheduleOrder, *, who: str, now: datetime
) -> ScheduleRead:
    """Store a schedule, in place of the one of its name where there is one.

    The nights that were begun stay begun. Raises TooManySchedulesError.
    """
    before = schedules.find(session, name)
    if before is None and len(schedules.all_of_them(session)) >= SCHEDULES_MAX:
        raise TooManySchedulesError
    wanted = StoredSchedule(
        name=name,
        at=order.at,
        zone=order.zone,
        duplicates=order.duplicates,
        content=order.order.model_dump(mode="json"),
        paused=False,
        since=now,
        why=order.why,
        changed_by=who,
        changed_at=now,
        night=None if before is None else before.night,
        session_id=None if before is None else before.session_id,
    )
    schedules.keep(session, wanted)
    audits.keep(session, [_entry(Act.SCHEDULE, before, wanted)])
    return _read(session, wanted, now)


def change_schedule(
    session: WriteSession, name: str, change: ScheduleChange, *, who: str, now: datetime
) -> ScheduleRead | None:
    """Pause or resume a schedule and return it, or remove it. Raises UnknownScheduleError."""
    before = schedules.read(session, name)
    told = replace(before, why=change.why, changed_by=who, changed_at=now)
    match change.act:
        case "remove":
            schedules.remove(session, name)
            audits.keep(session, [_entry(Act.UNSCHEDULE, before, told, gone=True)])
            return None
        case "pause":
            wanted, act = replace(told, paused=True), Act.PAUSE
        case "resume":
            # A night that passed meanwhile is not made up for.
            wanted, act = replace(told, paused=False, since=now), Act.RESUME
    schedules.keep(session, wanted)
    audits.keep(session, [_entry(act, before, wanted)])
    return _read(session, wanted, now)


def list_schedules(session: ReadSession, *, now: datetime) -> tuple[ScheduleRead, ...]:
    """Return every schedule, by name."""
    return tuple(_read(session, each, now) for each in schedules.all_of_them(session))


def timing_of(schedule: StoredSchedule) -> Timing:
    """Return when a schedule's nights begin."""
    return Timing(clock_time(schedule.at), ZoneInfo(schedule.zone), schedule.since)


def is_held_up(session: ReadSession, schedule: StoredSchedule) -> bool:
    """Return whether an earlier night's session is not over, so that no other begins."""
    if schedule.session_id is None:
        return False
    return sessions.read(session, schedule.session_id).state in {"queued", "running"}


def _read(session: ReadSession, stored: StoredSchedule, now: datetime) -> ScheduleRead:
    timing = timing_of(stored)
    content = stored.content
    begun = None if stored.night is None else timing.begin_of(stored.night).astimezone(UTC)
    ahead = next_begin(timing, last=stored.night, now=now).astimezone(UTC)
    return ScheduleRead(
        name=stored.name,
        plan=content["plan"],
        pool=content["pool"],
        stack_keys=tuple(stack_key for stack_key in _stack_keys(content["launches"])),
        at=stored.at,
        zone=stored.zone,
        duplicates=stored.duplicates,
        paused=stored.paused,
        launches=len(content["launches"]),
        next_begin=None if stored.paused else ahead,
        last_begun=begun,
        last_session_id=stored.session_id,
        waits_for=stored.session_id if is_held_up(session, stored) else None,
        why=stored.why,
        changed_by=stored.changed_by,
        changed_at=stored.changed_at,
    )


def _stack_keys(launches: Sequence[dict[str, Any]]) -> Sequence[str]:
    return list(dict.fromkeys(launch["stack_key"] for launch in launches))


def _entry(
    act: Act, before: StoredSchedule | None, after: StoredSchedule, *, gone: bool = False
) -> Entry:
    return Entry(
        at=after.changed_at,
        actor=after.changed_by,
        act=act,
        noun=Noun.SCHEDULE,
        noun_id=after.name,
        reason=after.why,
        before=None if before is None else _state(before),
        after=None if gone else _state(after),
    )


def _state(stored: StoredSchedule) -> dict[str, Any]:
    """Return a schedule as the audit keeps it."""
    return {
        "plan": stored.content["plan"],
        "stack_keys": list(_stack_keys(stored.content["launches"])),
        "at": stored.at,
        "zone": stored.zone,
        "duplicates": stored.duplicates,
        "paused": stored.paused,
    }
