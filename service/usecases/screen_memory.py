"""The screen between reading and storing: looks are taken one after another, in memory."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from uuid import UUID, uuid5

from service.domain.cell import Cell
from service.domain.event import NEAR_RUNS
from service.domain.metric import METRICS
from service.domain.noise import KEPT
from service.domain.screen import Watched, least_of
from service.domain.standing import (
    Known,
    MovedSeries,
    Resumed,
    Seen,
    Sighting,
    Standing,
    answer_of,
    resumed,
    seen,
)
from service.store.events import StoredEvent, StoredMoved
from service.store.looks import Look, LookedRun
from service.store.screens import StoredScreen
from service.store.series import SeriesKey

# The screen watches what is judged; whatever else is measured explains it.
WATCHED = tuple(metric.name for metric in KEPT)
# Events are named after where they begin, so telling them anew gives them the same id.
EVENTS = UUID("3f3a1c52-9a36-4d0c-8a0e-6b8d2f5c7e11")


@dataclass(frozen=True, slots=True)
class Value:
    """What a look has of a series: a median over its launches. run_id: of the newest run."""

    value: float
    run_id: UUID


@dataclass(slots=True)
class Memory:
    """What is known of the series of a host while it is looked at.

    looks: every look that a standing names. events: those seen so far. old: events told before,
    which keep their ids when they are told again. fresh, moved: what is to be stored.
    """

    host: str
    looks: dict[int, Look]
    screens: dict[SeriesKey, StoredScreen] = field(default_factory=dict)
    events: list[StoredEvent] = field(default_factory=list)
    old: list[StoredEvent] = field(default_factory=list)
    fresh: list[StoredEvent] = field(default_factory=list)
    moved: list[StoredMoved] = field(default_factory=list)
    warm: tuple[tuple[SeriesKey, ...], Resumed] | None = None


def take(memory: Memory, look: Look, runs: Sequence[LookedRun]) -> None:
    """Take one more look: remember where its series stand then, and the events it shows."""
    values = values_of(memory.host, runs)
    if not values:
        return
    memory.looks[look.number] = look
    cells = {run.cell for run in runs}
    keys = _keys(memory, cells, values)
    standings = [_standing(memory, key) for key in keys]
    given = [values[key].value if key in values else None for key in keys]
    before = _resumed(memory, keys, standings)
    found = seen(
        before, standings, look.number, given, changed=_is_changed(memory, before.rows, look)
    )
    memory.warm = keys, found.resumed
    by_place: dict[int, UUID] = {}
    for sighting in found.sightings:
        event = _event(memory, look, sighting, keys, given)
        memory.events.append(event)
        memory.fresh.append(event)
        _list(memory, event.id, sighting.moved, keys, by_place)
    for late in found.late:
        if (event_id := _nearest(memory, keys[late.place], late)) is not None:
            _list(memory, event_id, (late,), keys, by_place)
    _remember(memory, look, keys, values, found, by_place)


def _is_changed(memory: Memory, rows: Sequence[int], look: Look) -> bool:
    """Return whether a look is of another stack than the one before it: a known change point."""
    return bool(rows) and memory.looks[rows[-1]].stack_key != look.stack_key


def values_of(host: str, runs: Iterable[LookedRun]) -> Mapping[SeriesKey, Value]:
    """Return what runs have of each series: the median over launches of medians over repeats.

    A condition names its seeds, so every run of a series has the same ones: they are paired.
    """
    found: dict[SeriesKey, list[tuple[float, UUID]]] = defaultdict(list)
    for run in runs:
        for metric, value in run.medians.items():
            if value > 0 and math.isfinite(value):
                found[SeriesKey(run.cell, metric, host)].append((value, run.run_id))
    return {
        key: Value(median(value for value, _ in launches), launches[-1][1])
        for key, launches in found.items()
    }


def _keys(
    memory: Memory, cells: Iterable[Cell], values: Mapping[SeriesKey, Value]
) -> tuple[SeriesKey, ...]:
    """Return the series of a look: those with a value, and those that had one before."""
    wanted = (SeriesKey(cell, metric, memory.host) for cell in cells for metric in WATCHED)
    known = [key for key in wanted if key in values or key in memory.screens]
    return tuple(sorted(known, key=_name))


def _name(key: SeriesKey) -> str:
    return f"{key.cell.condition_key} {key.cell.protocol_key} {key.metric}"


def _standing(memory: Memory, key: SeriesKey) -> Standing:
    found = memory.screens.get(key)
    return Standing() if found is None else found.standing


def _resumed(memory: Memory, keys: tuple[SeriesKey, ...], standings: Sequence[Standing]) -> Resumed:
    if memory.warm is not None and memory.warm[0] == keys:
        return memory.warm[1]
    series = [
        Watched(_name(key), key.metric, METRICS[key.metric].better, least_of(key.metric))
        for key in keys
    ]
    named = {number for each in standings for number in each.looks}
    known = [
        Known(event.worse, event.change_look, event.seen_look)
        for event in memory.events
        if event.change_look in named and event.seen_look in memory.looks
    ]
    order = {number: look.place for number, look in memory.looks.items()}
    return resumed(series, standings, order=order, known=known)


def _event(
    memory: Memory,
    look: Look,
    sighting: Sighting,
    keys: Sequence[SeriesKey],
    given: Sequence[float | None],
) -> StoredEvent:
    event, names = sighting.event, {_name(key): key for key in keys}
    trigger = names.get(event.trigger)
    strongest = keys[sighting.moved[0].place].metric if sighting.moved else None
    change = memory.looks[sighting.change_look]
    before = None if sighting.before is None else memory.looks[sighting.before]
    sizes = [
        METRICS[keys[each.place].metric].worsening(each.change)
        for each in sighting.moved
        if _is_worse(keys[each.place], each) is event.worse
    ]
    return StoredEvent(
        id=_id(memory, sighting),
        host=memory.host,
        is_host=False,
        part_of=None,
        worse=event.worse,
        trigger=event.trigger,
        metric=strongest if trigger is None else trigger.metric,
        change=median(sizes) if sizes else None,
        measured=sum(value is not None for value in given),
        presumed=[_name(names[name]).split() for name in event.presumed],
        change_look=change.number,
        change_stack_key=change.stack_key,
        before_stack_key=None if before is None else before.stack_key,
        seen_look=look.number,
        seen_at=look.looked_at,
    )


def _id(memory: Memory, sighting: Sighting) -> UUID:
    """Return the id of the event that this one was before it was told anew, or a new one."""
    order = sorted(memory.looks.values(), key=lambda each: each.place)
    places = {each.number: place for place, each in enumerate(order)}
    for was in memory.old:
        near = abs(places.get(was.change_look, -NEAR_RUNS) - places[sighting.change_look])
        if was.worse is sighting.event.worse and near <= NEAR_RUNS:
            memory.old.remove(was)
            return was.id
    worse = "worse" if sighting.event.worse else "better"
    return uuid5(EVENTS, f"{memory.host} {sighting.change_look} {worse}")


def _list(
    memory: Memory,
    event_id: UUID,
    moved: Iterable[MovedSeries],
    keys: Sequence[SeriesKey],
    by_place: dict[int, UUID],
) -> None:
    """Remember the series that an event lists. by_place: the event of each series that moved."""
    for each in moved:
        by_place.setdefault(each.place, event_id)
        memory.moved.append(
            StoredMoved(event_id, keys[each.place], each.change, each.evidence, each.look)
        )


def _nearest(memory: Memory, key: SeriesKey, late: MovedSeries) -> UUID | None:
    """Return the known event that a series moved with, by its direction and change point."""
    order = sorted(memory.looks.values(), key=lambda each: each.place)
    places = {each.number: place for place, each in enumerate(order)}
    alike = [event for event in memory.events if event.worse is _is_worse(key, late)]
    if not alike:
        return None
    at = places[late.look]
    return min(alike, key=lambda event: abs(places.get(event.change_look, 0) - at)).id


def _is_worse(key: SeriesKey, moved: MovedSeries) -> bool:
    return METRICS[key.metric].worsening(moved.change) > 0


def _remember(
    memory: Memory,
    look: Look,
    keys: Sequence[SeriesKey],
    values: Mapping[SeriesKey, Value],
    found: Seen,
    by_place: Mapping[int, UUID],
) -> None:
    for place, key in enumerate(keys):
        standing, smallest = found.standings[place], found.smallest[place]
        before = memory.screens.get(key)
        if key not in values:
            if before is not None:
                memory.screens[key] = replace(before, standing=standing)
            continue
        event_id = by_place.get(place, before.event_id if before else None)
        memory.screens[key] = StoredScreen(
            series=key,
            standing=standing,
            answer=answer_of(standing, moved=event_id is not None),
            smallest_effect=smallest if math.isfinite(smallest) else None,
            event_id=event_id,
            run_id=values[key].run_id,
            look=look.number,
            looked_at=look.looked_at,
        )
