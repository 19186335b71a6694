"""Say of events whether the host is what moved: all its series did, and those elsewhere did not."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from uuid import UUID

from service.domain.cell import Cell
from service.domain.event import host_of
from service.store import events, looks, screens
from service.store.database import ReadSession, WriteSession
from service.store.events import EventFilter, StoredEvent, StoredMoved
from service.store.looks import Look
from service.store.screens import StoredScreen

# So many of the newest events are looked at again: what other hosts show comes later.
EVENTS = 20
# Looks of one night on several hosts lie within this.
NIGHT = timedelta(hours=24)


def name_hosts(session: WriteSession, cells: Collection[Cell]) -> None:
    """Say anew of the newest events in some cells whether the host is what moved."""
    recent = events.newest(session, EventFilter(), limit=EVENTS)
    listed = _by_event(session, recent)
    about = {each.id: each for each in recent}
    named = {
        event_id: _is_host(session, about[event_id], moved)
        for event_id, moved in listed.items()
        if any(each.series.cell in cells for each in moved)
    }
    events.name_hosts(
        session, {key: value for key, value in named.items() if about[key].is_host is not value}
    )


def _by_event(
    session: ReadSession, recent: Sequence[StoredEvent]
) -> Mapping[UUID, list[StoredMoved]]:
    """Return the series that events list, with those of the events that are part of them."""
    found: dict[UUID, list[StoredMoved]] = {event.id: [] for event in recent}
    whole = {event.id: event.id for event in recent}
    for each in events.parts(session, found):
        if each.part_of is not None:
            whole[each.id] = each.part_of
    for moved in events.moved(session, whole):
        found[whole[moved.event_id]].append(moved)
    return found


def _is_host(session: ReadSession, event: StoredEvent, moved: Sequence[StoredMoved]) -> bool:
    own = [each for each in moved if each.series.host == event.host]
    keys = {each.series.cell.condition_key for each in own}
    stored = screens.of_conditions(session, keys)
    same = {(each.series.cell, each.series.metric) for each in own}
    among = [each for key, each in stored.items() if (key.cell, key.metric) in same]
    numbers = {number for each in among for number in each.standing.looks}
    named = looks.by_number(session, {*numbers, event.change_look, event.seen_look})
    change, last = named[event.change_look], named[event.seen_look]
    until = {number: look for number, look in named.items() if look.place <= last.place}
    runs = max((_since(each, until, change) for each in among if _on(each, event)), default=0)
    elsewhere = [
        each for each in among if not _on(each, event) and _since(each, named, change) >= runs > 0
    ]
    hosts = {str(each.series): each.series.host or "" for each in elsewhere}
    hosts |= {str(each.series): each.series.host or "" for each in moved}
    # Series of the host that were measured and are not listed stayed where they were.
    hosts |= {f"stayed {place}": event.host for place in range(event.measured - len(own))}
    return host_of({str(each.series) for each in moved}, hosts) == event.host


def _on(screen: StoredScreen, event: StoredEvent) -> bool:
    return screen.series.host == event.host


def _since(screen: StoredScreen, named: Mapping[int, Look], change: Look) -> int:
    """Return how many of some looks of a series are of the change or of what came after it."""
    own = (named[number] for number in screen.standing.looks if number in named)
    return sum(
        look.built_at >= change.built_at and look.measured_at >= change.measured_at - NIGHT
        for look in own
    )
