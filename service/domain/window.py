"""The hours of a day in which a runner may begin a job: cards are shared with other teams."""

from dataclasses import dataclass
from datetime import datetime, time, tzinfo
from zoneinfo import ZoneInfo

from service.domain.schedule import clock_time


class WindowError(ValueError):
    """A text is no window."""

    def __init__(self, text: str, why: str) -> None:
        super().__init__(f"{text!r} is no window, as in '22:00-06:00 Asia/Shanghai': {why}")


@dataclass(frozen=True, slots=True)
class Window:
    """From one time of day until another, which may lie in the next day."""

    begin: time
    end: time
    zone: tzinfo

    def __str__(self) -> str:
        """Return it as it is given in a setting."""
        return f"{self.begin:%H:%M}-{self.end:%H:%M} {self.zone}"

    def is_open(self, now: datetime) -> bool:
        """Return whether a job may begin now."""
        at = now.astimezone(self.zone).time()
        if self.begin < self.end:
            return self.begin <= at < self.end
        return at >= self.begin or at < self.end


def window(text: str) -> Window:
    """Return a window, given as '22:00-06:00 Asia/Shanghai'. Raises WindowError."""
    hours, _, zone = text.partition(" ")
    begin, _, end = hours.partition("-")
    try:
        found = Window(clock_time(begin), clock_time(end), ZoneInfo(zone.strip()))
    except (LookupError, ValueError, OSError) as error:
        raise WindowError(text, str(error.args[0])) from error
    if found.begin == found.end:
        raise WindowError(text, "it begins when it ends")
    return found


def may_be_open(text: str | None, now: datetime) -> bool:
    """Return whether a window is open: one that nobody named is, and one in a strange zone may."""
    try:
        return text is None or window(text).is_open(now)
    except WindowError:
        return True
