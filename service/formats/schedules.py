"""Schedules: a session that is queued every night, as it is asked for and as it is read."""

from typing import Annotated, Literal
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, AwareDatetime, Field, NonNegativeInt, model_validator

from service.domain.schedule import clock_time
from service.formats.identities import Key, Name
from service.formats.messages import Message
from service.formats.sessions import LAUNCHES_MAX, SessionOrder
from service.formats.withdrawals import Reason, Who

DUPLICATES_MAX = 50


def _clock(text: str) -> str:
    clock_time(text)
    return text


def _zone(text: str) -> str:
    try:
        ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(f"{text!r} is no time zone: write one as in Asia/Shanghai") from error
    return text


Clock = Annotated[str, AfterValidator(_clock)]
Zone = Annotated[str, Field(min_length=1, max_length=64), AfterValidator(_zone)]


class ScheduleOrder(Message):
    """What to queue every night, and when.

    at: time of day in zone. duplicates: how many of the session's launches are measured once more,
    on rotation, so that the variance between launches of one stack stays known. who: a person's
    name; a token's name is kept where there is one.
    """

    at: Clock
    zone: Zone = "UTC"
    duplicates: NonNegativeInt = Field(default=1, le=DUPLICATES_MAX)
    order: SessionOrder
    why: Reason
    who: Who = None

    @model_validator(mode="after")
    def _fits(self) -> "ScheduleOrder":
        if len(self.order.launches) + self.duplicates > LAUNCHES_MAX:
            raise ValueError(f"launches and duplicates are more than {LAUNCHES_MAX} together")
        return self


class ScheduleChange(Message):
    """Pause, resume or remove a schedule, and why."""

    act: Literal["pause", "resume", "remove"]
    why: Reason
    who: Who = None


class ScheduleRead(Message):
    """A schedule, and what became of its newest night.

    next_begin: null while it is paused. waits_for: the session of an earlier night that is not
    over, which holds the next one up.
    """

    name: Name
    plan: str
    pool: str
    stack_keys: tuple[Key, ...]
    at: str
    zone: str
    duplicates: int
    paused: bool
    launches: int
    next_begin: AwareDatetime | None
    last_begun: AwareDatetime | None
    last_session_id: UUID | None
    waits_for: UUID | None
    why: str
    changed_by: str
    changed_at: AwareDatetime


class ScheduleChanged(Message):
    """What became of a schedule that was changed; null where it was removed."""

    schedule: ScheduleRead | None
