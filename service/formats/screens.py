"""What the screen answers about plain series, as `kunline detect --json` prints it."""

import math
from collections.abc import Iterable
from typing import Literal, Self

from service.domain.event import Event, Moved
from service.domain.metric import Better
from service.domain.regime import tolerance_of
from service.domain.screen import Answer, Watch, Watched, smallest_effects
from service.formats.messages import Message
from service.formats.series_files import Table


class MovedRead(Message):
    """A series listed in an event. change: a ratio of its value. evidence: standard errors."""

    name: str
    direction: Literal["up", "down"]
    change: float
    evidence: float


class EventRead(Message):
    """One event. Indexes count runs from 0; labels are what the file calls those runs.

    trigger: the series that alarmed, or the group ("all", a regime) whose sum did.
    presumed: series without a value in the run in which the event was seen.
    """

    file: str
    change_index: int
    change_label: str | None = None
    seen_index: int
    seen_label: str | None = None
    direction: Literal["worse", "better"]
    trigger: str
    host: str | None = None
    moved: tuple[MovedRead, ...]
    presumed: tuple[str, ...] = ()

    @classmethod
    def of(cls, event: Event, table: Table) -> Self:
        """Return an event with the runs of the table that it speaks of named."""
        seen, labels = event.seen - 1, table.labels
        return cls(
            file=table.file,
            change_index=event.change_run,
            change_label=labels[event.change_run] if labels else None,
            seen_index=seen,
            seen_label=labels[seen] if labels else None,
            direction="worse" if event.worse else "better",
            trigger=event.trigger,
            host=event.host,
            moved=tuple(_moved(each) for each in event.moved),
            presumed=event.presumed,
        )


class SeriesRead(Message):
    """One series and its answer. smallest_detectable: a ratio; null where nothing could be."""

    file: str
    name: str
    metric: str
    better: Better
    host: str | None = None
    runs: int
    answer: Answer
    smallest_detectable: float | None
    tolerance: float

    @property
    def has_power(self) -> bool:
        """Whether a change of the tolerance would have been seen."""
        return self.smallest_detectable is not None and self.smallest_detectable <= self.tolerance


class ScreenRead(Message):
    """What was seen in series, file by file."""

    alarms: tuple[EventRead, ...]
    series: tuple[SeriesRead, ...]

    @classmethod
    def of(
        cls, table: Table, watched: Watch, events: tuple[Event, ...], tolerance: float | None
    ) -> Self:
        """Return the answer after the last run of a table. tolerance: instead of each metric's."""
        suspects = {each.series for event in events for each in event.moved}
        smallest = smallest_effects(watched)
        return cls(
            alarms=tuple(EventRead.of(event, table) for event in events),
            series=tuple(
                _series(
                    table.file,
                    each,
                    runs=sum(row[column] is not None for row in table.rows),
                    suspect=each.name in suspects,
                    smallest=smallest[column],
                    tolerance=tolerance,
                )
                for column, each in enumerate(watched.series)
            ),
        )

    @property
    def is_quiet(self) -> bool:
        """Whether nothing was seen, and in no series for want of power."""
        quiet = all(each.answer is Answer.NO_ALARM and each.has_power for each in self.series)
        return quiet and not self.alarms


def together(screens: Iterable[ScreenRead]) -> ScreenRead:
    """Return the answers about several files as one."""
    several = tuple(screens)
    return ScreenRead(
        alarms=tuple(alarm for screen in several for alarm in screen.alarms),
        series=tuple(each for screen in several for each in screen.series),
    )


def _series(
    file: str, each: Watched, *, runs: int, suspect: bool, smallest: float, tolerance: float | None
) -> SeriesRead:
    return SeriesRead(
        file=file,
        name=each.name,
        metric=each.metric,
        better=each.better,
        host=each.host,
        runs=runs,
        answer=Answer.SUSPECT if suspect else Answer.NO_ALARM,
        smallest_detectable=smallest if math.isfinite(smallest) else None,
        tolerance=tolerance_of(each.metric) if tolerance is None else tolerance,
    )


def _moved(moved: Moved) -> MovedRead:
    return MovedRead(
        name=moved.series,
        direction="up" if moved.change > 0 else "down",
        change=moved.change,
        evidence=moved.evidence,
    )
