"""The schedule: a plan that is measured every night, and which launches are measured twice."""

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo

# A night that nobody could begin for so long is left out: it would run into the day's work.
CATCH_UP = timedelta(hours=6)
CLOCK = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])")


class ClockTimeError(ValueError):
    """A text is no time of day."""

    def __init__(self, text: str) -> None:
        super().__init__(f"{text!r} is no time of day: write hours and minutes, as in 02:30")


@dataclass(frozen=True, slots=True)
class Timing:
    """When nights begin. since: from when on it counts: when it was made, or last resumed."""

    at: time
    zone: tzinfo
    since: datetime

    def begin_of(self, night: date) -> datetime:
        """Return when a night begins."""
        return datetime.combine(night, self.at, self.zone)


def clock_time(text: str) -> time:
    """Return a time of day, given as 02:30. Raises ClockTimeError."""
    found = CLOCK.fullmatch(text)
    if found is None:
        raise ClockTimeError(text)
    return time(int(found[1]), int(found[2]))


def night_due(timing: Timing, *, last: date | None, now: datetime) -> date | None:
    """Return the night that is to begin now, or None.

    last: the newest night that was begun. No night begins twice, also where a clock goes back;
    one that is CATCH_UP late is left out.
    """
    today = now.astimezone(timing.zone).date()
    night = today if timing.begin_of(today) <= now else today - timedelta(days=1)
    begin = timing.begin_of(night)
    late = now - begin > CATCH_UP or begin < timing.since
    return None if late or (last is not None and night <= last) else night


def next_begin(timing: Timing, *, last: date | None, now: datetime) -> datetime:
    """Return when the next night begins: in the past where one is due."""
    due = night_due(timing, last=last, now=now)
    if due is not None:
        return timing.begin_of(due)
    night = now.astimezone(timing.zone).date()
    while timing.begin_of(night) <= now or (last is not None and night <= last):
        night += timedelta(days=1)
    return timing.begin_of(night)


def on_rotation(things: int, *, night: date, count: int) -> tuple[int, ...]:
    """Return which of some things have their turn in a night: count of them, each as often.

    things: how many there are; they are numbered from 0.
    """
    taken = min(count, things)
    begin = night.toordinal() * taken
    return tuple(sorted((begin + place) % things for place in range(taken)))
