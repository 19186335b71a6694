"""Where the screen stands in each series between two looks, and how it goes on from there."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

import numpy as np

from service.domain.event import Event
from service.domain.screen import Answer, Watch, Watched, look, smallest_effects, watch
from service.stats import pool as rows_of
from service.stats import screen as scan
from service.stats.levels import Floats

# Where a look stands in its series: when its stack was built, then when it was measured.
Order = Mapping[int, Any]


@dataclass(frozen=True, slots=True)
class Standing:
    """All that is kept of a series from one look to the next.

    values: its newest logarithms, a rise for the worse, oldest first. looks: the look each is of.
    age: how many runs are of the present level. since: the look at which the level of the sums it
    is part of begins; None for its first.
    """

    values: tuple[float, ...] = ()
    looks: tuple[int, ...] = ()
    age: int = 0
    since: int | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """An event seen before, so that another sighting of it is none of its own."""

    worse: bool
    change_look: int
    seen_look: int


@dataclass(frozen=True, slots=True)
class Resumed:
    """The screen of some series as it was after its last look. rows: the looks behind it."""

    watch: Watch
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MovedSeries:
    """A series that moved, by its place. change: a ratio of its value. look: first of the level."""

    place: int
    change: float
    evidence: float
    look: int

    @property
    def rose(self) -> bool:
        """Whether its value rose."""
        return self.change > 0


@dataclass(frozen=True, slots=True)
class Sighting:
    """An event that a look showed for the first time. before: the look before the change."""

    event: Event
    change_look: int
    before: int | None
    moved: tuple[MovedSeries, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """What a look showed. late: series that moved with an event that was known already."""

    resumed: Resumed
    standings: tuple[Standing, ...]
    smallest: tuple[float, ...]
    sightings: tuple[Sighting, ...] = ()
    late: tuple[MovedSeries, ...] = field(default=())


def answer_of(standing: Standing, *, moved: bool) -> Answer:
    """Return the answer of a series: suspect while its new level is young.

    moved: whether its present level began with an event.
    """
    return Answer.SUSPECT if moved and standing.age <= scan.LATEST else Answer.NO_ALARM


def resumed(
    series: Sequence[Watched],
    standings: Sequence[Standing],
    *,
    order: Order,
    known: Sequence[Known] = (),
) -> Resumed:
    """Return the screen of these series as it stood. order: of every look that is named here."""
    found = {number for each in standings for number in each.looks}
    rows = tuple(sorted(found, key=order.__getitem__)[-scan.KEPT :])
    fresh = watch(series)
    ages = np.array([each.age for each in standings], dtype=np.float64)
    events = tuple(_event(each, rows, order) for each in known if each.change_look in found)
    return Resumed(
        replace(
            fresh,
            screen=scan.restored(_recent(standings), ages),
            pool=fresh.pool and _pool(fresh.pool, standings, rows, order),
            runs=len(rows),
            events=events,
        ),
        rows,
    )


def seen(
    at: Resumed,
    standings: Sequence[Standing],
    number: int,
    values: Sequence[float | None],
    *,
    changed: bool = False,
) -> Seen:
    """Return what one more look shows.

    number: of the look. values: one per series, above zero. changed: whether the look is of
    another stack than the one before it.
    """
    after, events = look(at.watch, values, changed=changed)
    rows = (*at.rows, number)
    since = _since(at.watch, after, rows)
    kept = tuple(
        _standing(standings[place], after, place, number, since, measured=value is not None)
        for place, value in enumerate(values)
    )
    names = {each.name: place for place, each in enumerate(after.series)}
    sightings = tuple(_sighting(event, after, rows, kept, names) for event in events)
    listed = {each.place for sighting in sightings for each in sighting.moved}
    return Seen(
        resumed=Resumed(after, rows),
        standings=kept,
        smallest=smallest_effects(after),
        sightings=sightings,
        late=tuple(_late(at.watch, after, kept, listed, values)),
    )


def _event(known: Known, rows: Sequence[int], order: Order) -> Event:
    """Return a known event in the runs of this screen."""
    change, last = order[known.change_look], order[known.seen_look]
    return Event(
        change_run=sum(order[row] < change for row in rows),
        seen=sum(order[row] <= last for row in rows),
        worse=known.worse,
        trigger="",
        moved=(),
    )


def _recent(standings: Sequence[Standing]) -> Floats:
    recent = np.zeros((len(standings), scan.KEPT))
    for place, each in enumerate(standings):
        if each.values:
            recent[place, -len(each.values) :] = each.values
    return recent


def _pool(
    pool: rows_of.Pool, standings: Sequence[Standing], rows: Sequence[int], order: Order
) -> rows_of.Pool:
    """Return the pool as its rows left it; a series without a value in a row adds its median."""
    recent = np.zeros((len(standings), scan.KEPT))
    columns = {number: scan.KEPT - len(rows) + place for place, number in enumerate(rows)}
    for place, each in enumerate(standings):
        if not each.values:
            continue
        if each.looks != rows:
            recent[place] = median(each.values)
        for number, value in zip(each.looks, each.values, strict=True):
            if number in columns:
                recent[place, columns[number]] = value
    since = {each.since for each in standings if each.since is not None}
    begins = [order[number] for number in since if number in order]
    age = sum(order[row] >= max(begins) for row in rows) if begins else len(rows)
    return rows_of.restarted(replace(pool, recent=recent), age)


def _since(before: Watch, after: Watch, rows: Sequence[int]) -> int | None:
    """Return the look at which the sums' level begins, if that changed."""
    if before.pool is None or after.pool is None:
        return None
    going_on = after.pool.age == min(before.pool.age + 1, scan.KEPT)
    return None if going_on else rows[-after.pool.age]


def _standing(
    before: Standing, after: Watch, place: int, number: int, since: int | None, *, measured: bool
) -> Standing:
    since = before.since if since is None else since
    if not measured:
        return replace(before, since=since)
    value = float(after.screen.recent[place, -1])
    return Standing(
        values=(*before.values, value)[-scan.KEPT :],
        looks=(*before.looks, number)[-scan.KEPT :],
        age=int(after.screen.age[place]),
        since=since,
    )


def _sighting(
    event: Event,
    after: Watch,
    rows: Sequence[int],
    standings: Sequence[Standing],
    names: Mapping[str, int],
) -> Sighting:
    """Return an event with its change point as a look: its runs are those of what alarmed."""
    runs = after.runs - event.change_run
    looks = standings[names[event.trigger]].looks if event.trigger in names else rows
    begin = max(len(looks) - runs, 0)
    return Sighting(
        event=event,
        change_look=looks[begin],
        before=looks[begin - 1] if begin else None,
        moved=tuple(
            MovedSeries(
                names[each.series],
                each.change,
                each.evidence,
                _first(standings[names[each.series]]),
            )
            for each in event.moved
        ),
    )


def _late(
    before: Watch,
    after: Watch,
    standings: Sequence[Standing],
    listed: set[int],
    values: Sequence[float | None],
) -> Iterator[MovedSeries]:
    """Yield the series that start anew without an event of their own: it was known already."""
    measured = np.array([value is not None for value in values])
    anew = np.flatnonzero(after.screen.age != before.screen.age + measured).tolist()
    late = [place for place in anew if place not in listed]
    if not late:
        return
    run = np.where(measured, after.screen.recent[:, -1], np.nan)
    evidence = np.nan_to_num(scan.evidence_of(scan.advance(before.screen, run)))
    for place in late:
        runs = standings[place].age
        level = standings[place].values[-runs:]
        earlier = standings[place].values[:-runs][-scan.WINDOW :]
        shift = median(level) - median(earlier or level)
        yield MovedSeries(
            place,
            math.expm1(after.series[place].sign * shift),
            float(np.abs(evidence[place, min(runs, scan.LATEST) - 1])),
            _first(standings[place]),
        )


def _first(standing: Standing) -> int:
    """Return the first look of a series' present level, as far back as is kept."""
    return standing.looks[-min(standing.age, len(standing.looks))]
