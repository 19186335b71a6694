"""Read events: a page of them, newest first, or one with the runs it came from."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self
from uuid import UUID

from service.domain.cell import title
from service.domain.screen import Answer
from service.formats.events import EventDetail, EventMoved, EventPage, EventPresumed, EventRead
from service.store import conditions, events, looks, marks, screens, stacks
from service.store.confirms import ConfirmFilter
from service.store.database import ReadSession
from service.store.events import EventFilter, StoredEvent, StoredMoved
from service.store.looks import Look
from service.store.series import SeriesKey
from service.usecases.read_confirms import confirms_of
from service.usecases.read_runs import cursor_of, read_cursor
from service.usecases.screen_memory import WATCHED

# As many runs of an event as are named.
RUNS_MAX = 1000


@dataclass(frozen=True, slots=True)
class About:
    """What is told beside some events, looked up for all of them at once."""

    parts: Mapping[UUID, Sequence[StoredEvent]]
    moved: Mapping[UUID, Sequence[StoredMoved]]
    looks: Mapping[int, Look]
    names: Mapping[str, str]
    titles: Mapping[str, str]
    answers: Mapping[SeriesKey, Answer]

    @classmethod
    def of(cls, session: ReadSession, found: Sequence[StoredEvent]) -> Self:
        """Look up what is told of some events, those that are part of them included."""
        parts: dict[UUID, list[StoredEvent]] = defaultdict(list)
        for part in events.parts(session, [event.id for event in found]):
            if part.part_of is not None:
                parts[part.part_of].append(part)
        every = [*found, *(part for of in parts.values() for part in of)]
        moved: dict[UUID, list[StoredMoved]] = defaultdict(list)
        for each in events.moved(session, [event.id for event in every]):
            moved[each.event_id].append(each)
        listed = [each for of in moved.values() for each in of]
        keys = {each.series.cell.condition_key for each in listed}
        presumed = {key for event in every for key, _, _ in event.presumed}
        numbers = {number for event in every for number in (event.change_look, event.seen_look)}
        named = looks.by_number(session, {*numbers, *(each.look for each in listed)})
        before = {event.before_stack_key for event in every if event.before_stack_key is not None}
        return cls(
            parts=parts,
            moved=moved,
            looks=named,
            names=stacks.names(session, {*before, *(look.stack_key for look in named.values())}),
            titles={
                key: title(under)
                for key, under in conditions.by_key(session, {*keys, *presumed}).items()
            },
            answers=screens.answers_under(session, keys),
        )

    def told(self, event: StoredEvent) -> EventRead:
        """Return an event as it is answered."""
        every = [event, *self.parts.get(event.id, ())]
        moved = [each for one in every for each in self.moved.get(one.id, ())]
        change, seen = self.looks[event.change_look], self.looks[event.seen_look]
        is_series = " " in event.trigger
        return EventRead(
            id=event.id,
            direction="worse" if event.worse else "better",
            host=event.host if event.is_host else None,
            hosts=tuple(sorted({one.host for one in every})),
            trigger=event.metric or event.trigger if is_series else event.trigger,
            metric=event.metric,
            change=event.change,
            stack_key=change.stack_key,
            stack_name=self.names[change.stack_key],
            before_stack_key=event.before_stack_key,
            before_stack_name=self.names.get(event.before_stack_key or ""),
            change_at=change.measured_at,
            seen_at=event.seen_at,
            seen_stack_key=seen.stack_key,
            seen_stack_name=self.names[seen.stack_key],
            moved=tuple(map(self._moved, sorted(moved, key=lambda each: -each.evidence))),
            presumed=tuple(self._presumed(every)),
        )

    def _moved(self, moved: StoredMoved) -> EventMoved:
        return EventMoved(
            **self._names(moved.series.cell.condition_key, moved.series.cell.protocol_key),
            metric=moved.series.metric,
            host=moved.series.host or "",
            change=moved.change,
            evidence=moved.evidence,
            stack_key=self.looks[moved.look].stack_key,
            answer=self.answers.get(moved.series),
        )

    def _presumed(self, every: Iterable[StoredEvent]) -> Iterable[EventPresumed]:
        for event in every:
            for condition_key, protocol_key, metric in event.presumed:
                names = self._names(condition_key, protocol_key)
                yield EventPresumed(**names, metric=metric, host=event.host)

    def _names(self, condition_key: str, protocol_key: str) -> dict[str, Any]:
        return {
            "condition_key": condition_key,
            "protocol_key": protocol_key,
            "title": self.titles[condition_key],
        }


def rests_on(session: ReadSession) -> str:
    """Return a text that is another one whenever a page of events may be."""
    return marks.of_looks(session)


def list_events(
    session: ReadSession, wanted: EventFilter, *, limit: int, cursor: str | None
) -> EventPage:
    """Return a page of events, the newest seen first. Raises CursorError."""
    before = None if cursor is None else read_cursor(cursor)
    found = events.newest(session, wanted, before=before, limit=limit + 1)
    page = found[:limit]
    about = About.of(session, page)
    more = len(found) > limit
    return EventPage(
        events=tuple(about.told(event) for event in page),
        cursor=cursor_of(page[-1].seen_at, page[-1].id) if more else None,
    )


def read_event(session: ReadSession, event_id: UUID) -> EventDetail:
    """Return one event with the runs it came from. Raises UnknownEventError."""
    event = events.read(session, event_id)
    about = About.of(session, [event])
    every = [event, *about.parts.get(event.id, ())]
    return EventDetail(
        event=about.told(event),
        run_ids=_run_ids(session, every, about),
        confirms=confirms_of(session, ConfirmFilter(event_id=event_id)),
    )


def _run_ids(session: ReadSession, every: Sequence[StoredEvent], about: About) -> tuple[UUID, ...]:
    """Return the runs of the listed cells, from the change of each event to where it was seen."""
    found: dict[UUID, None] = {}
    for event in every:
        listed = about.moved.get(event.id, ())
        cells = {each.series.cell for each in listed}
        first, last = about.looks[event.change_look].place, about.looks[event.seen_look].place
        of_host = looks.of_cells(session, event.host, cells, limit=RUNS_MAX)
        numbers = [look.number for look in of_host if first <= look.place <= last]
        under = {cell.condition_key for cell in cells}
        for runs in looks.runs(session, numbers, metrics=WATCHED, conditions=under).values():
            found |= {run.run_id: None for run in runs if run.cell in cells and run.medians}
    return tuple(found)[:RUNS_MAX]
