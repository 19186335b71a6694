"""Read a series: a page of its newest runs with every repeat, or the whole of it from far away."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import chain, groupby, pairwise
from statistics import median
from typing import Any, TypeVar
from uuid import UUID

from service.domain.cell import title
from service.domain.metric import metric_named
from service.domain.policy import Policy
from service.domain.stack_difference import changed_components, widest_scope
from service.formats.events import ChangePoint, SeriesScreen
from service.formats.matrix_view import ConditionFields
from service.formats.series import (
    BaselineBand,
    SeriesOutline,
    SeriesPoint,
    SeriesRead,
    SeriesStack,
)
from service.store import baselines, conditions, marks, series, stacks
from service.store.baselines import StoredPin
from service.store.database import ReadSession
from service.store.series import OfStack, Place, SeriesKey, SeriesRun
from service.store.stacks import StoredStack
from service.usecases.pieces import Pieces
from service.usecases.read_runs import CursorError
from service.usecases.read_screens import change_points, screens_of

# As many runs of a pinned baseline as its band is drawn from, and of a series as are outlined.
BAND_RUNS = 200
OUTLINED_MAX = 100_000
# About what an entry of an outline takes in memory.
ENTRY_BYTES = 600

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Screened:
    """What the screen says of a series, and where it saw the level change."""

    screens: tuple[SeriesScreen, ...]
    change_points: tuple[ChangePoint, ...]

    @property
    def weight(self) -> int:
        """About the bytes that it takes."""
        return ENTRY_BYTES * (1 + len(self.screens) + len(self.change_points))


@dataclass(frozen=True, slots=True)
class StackOutlined:
    """The part of an outline that is of one stack: an entry for each group of neighbours."""

    run_id: Sequence[UUID]
    measured_at: Sequence[float]
    host: Sequence[str]
    runs: Sequence[int]
    median: Sequence[float | None]
    min: Sequence[float | None]
    max: Sequence[float | None]

    @property
    def weight(self) -> int:
        """About the bytes that it takes."""
        return ENTRY_BYTES * (1 + len(self.runs))


def read_series(
    session: ReadSession,
    key: SeriesKey,
    *,
    channel: str,
    limit: int,
    cursor: str | None,
    screened: Pieces[Screened],
) -> SeriesRead:
    """Return the newest runs of a series, in order, or those before a cursor.

    screened: what the screen said before, which stands until it looks again.
    Raises UnknownMetricError, UnknownConditionError and CursorError.
    """
    metric = metric_named(key.metric)
    before = None if cursor is None else _read_cursor(cursor)
    under = conditions.read(session, key.cell.condition_key)
    found = series.newest(session, key, before=before, limit=limit + 1)
    page = found[-limit:]
    of_host = series.counts(session, key.cell)
    known = stacks.by_key(session, {run.stack_key for run in page})
    pin = _pin(session, key, channel)
    order = _order(page)
    of_series = key.cell.condition_key, key.cell.protocol_key, key.metric, key.host
    (seen,) = screened.told(
        [(of_series, marks.of_looks(session))],
        lambda _: [Screened(screens_of(session, key), change_points(session, key))],
    )
    return SeriesRead(
        condition_key=key.cell.condition_key,
        protocol_key=key.cell.protocol_key,
        title=title(under),
        fields=ConditionFields.of(under),
        metric=metric.name,
        unit=metric.unit,
        better=metric.better,
        tolerance=Policy().tolerance_of(metric),
        channel=channel,
        baseline=None if pin is None else _band(session, key, pin),
        hosts=tuple(of_host),
        stacks=_stacks(order, known),
        points=tuple(_point(run, order, pin) for run in page),
        total=sum(of_host.values()) if key.host is None else of_host.get(key.host, 0),
        cursor=_cursor(page[0].place) if len(found) > limit else None,
        screens=seen.screens,
        change_points=seen.change_points,
    )


def rests_on(session: ReadSession, key: SeriesKey) -> str:
    """Return a text that is another one whenever a page of a series may be."""
    cell = key.cell
    told = marks.of_cell(session, cell), marks.of_pins(session, cell), marks.of_looks(session)
    return "\n".join(told)


def outline_series(
    session: ReadSession,
    key: SeriesKey,
    by_stack: Mapping[str, OfStack],
    *,
    points: int,
    outlined: Pieces[StackOutlined],
) -> SeriesOutline:
    """Return a whole series in columns of about as many entries at most, or one a stack.

    by_stack: how much of it each stack has. outlined: stacks that were told before, of which only
    those that changed since are told anew.
    Raises UnknownMetricError and UnknownConditionError.
    """
    metric = metric_named(key.metric)
    conditions.read(session, key.cell.condition_key)
    known = stacks.by_key(session, by_stack)
    ordered = sorted(known, key=lambda each: (known[each].built_at, each))
    total = sum(each.total for each in by_stack.values())
    size = _group(total, points)

    def tell(missing: Sequence[int]) -> Sequence[StackOutlined]:
        lacking = {ordered[place]: by_stack[ordered[place]].total for place in missing}
        found = {each: _outlined(runs, size) for each, runs in _runs(session, key, lacking)}
        return [found[each] for each in lacking]

    of_series = key.cell.condition_key, key.cell.protocol_key, key.metric, key.host, size
    told = outlined.told([(of_series, each, by_stack[each].told) for each in ordered], tell)
    hosts = sorted({host for each in by_stack.values() for host in each.runs})
    numbers = {host: number for number, host in enumerate(hosts)}
    return SeriesOutline(
        condition_key=key.cell.condition_key,
        protocol_key=key.cell.protocol_key,
        metric=metric.name,
        unit=metric.unit,
        better=metric.better,
        stacks=_stacks(ordered, known),
        hosts=tuple(hosts),
        total=total,
        run_id=_joined(each.run_id for each in told),
        measured_at=_joined(each.measured_at for each in told),
        stack=_joined([place] * len(each.runs) for place, each in enumerate(told)),
        host=tuple(numbers[host] for each in told for host in each.host),
        runs=_joined(each.runs for each in told),
        median=_joined(each.median for each in told),
        min=_joined(each.min for each in told),
        max=_joined(each.max for each in told),
    )


def _group(total: int, points: int) -> int:
    """Return how many neighbours are put together: a power of 2, which one more run changes seldom.

    What was put together of other stacks then stays as it is.
    """
    return 1 << (max(-(-total // points), 1) - 1).bit_length()


def _runs(
    session: ReadSession, key: SeriesKey, totals: Mapping[str, int]
) -> Iterator[tuple[str, Sequence[SeriesRun]]]:
    """Yield the runs of each stack. totals: how many it has; very many are read one by one."""
    for some in _batches(totals):
        found = series.of_stacks(session, key, some, limit=OUTLINED_MAX)
        for stack_key, runs in groupby(found, key=lambda run: run.stack_key):
            yield stack_key, list(runs)


def _batches(totals: Mapping[str, int]) -> Iterator[Sequence[str]]:
    """Yield stacks that have no more runs together than are read at one time, or one alone."""
    batch: list[str] = []
    runs = 0
    for stack_key, total in totals.items():
        if batch and runs + total > OUTLINED_MAX:
            yield batch
            batch, runs = [], 0
        batch.append(stack_key)
        runs += total
    yield batch


def _outlined(found: Sequence[SeriesRun], size: int) -> StackOutlined:
    groups = [found[begin : begin + size] for begin in range(0, len(found), size)]
    judged = [
        [run for run in group if run.may_be_judged and run.median is not None] for group in groups
    ]
    return StackOutlined(
        run_id=[group[0].id for group in groups],
        measured_at=[group[0].measured_at.timestamp() for group in groups],
        host=[group[0].host for group in groups],
        runs=[len(group) for group in groups],
        median=[_over(median, (run.median for run in runs)) for runs in judged],
        min=[_over(min, (run.min for run in runs)) for runs in judged],
        max=[_over(max, (run.max for run in runs)) for runs in judged],
    )


def _joined(columns: Iterable[Sequence[Value]]) -> tuple[Value, ...]:
    return tuple(chain.from_iterable(columns))


def _over(whole: Any, values: Iterable[float | None]) -> float | None:
    """Return a number that stands for many; None for none."""
    known = [value for value in values if value is not None]
    return float(whole(known)) if known else None


def _order(runs: Iterable[SeriesRun]) -> Mapping[str, int]:
    """Return the place of each stack, in the order in which they come first."""
    keys = dict.fromkeys(run.stack_key for run in runs)
    return {key: number for number, key in enumerate(keys)}


def _stacks(order: Iterable[str], known: Mapping[str, StoredStack]) -> tuple[SeriesStack, ...]:
    found = [known[key] for key in order]
    first = [_stack(found[0], None)] if found else []
    return (*first, *(_stack(after, before) for before, after in pairwise(found)))


def _stack(stored: StoredStack, before: StoredStack | None) -> SeriesStack:
    changes = () if before is None else changed_components(before.stack, stored.stack)
    return SeriesStack(
        key=stored.stack.key,
        name=stored.stack.name,
        built_at=stored.built_at,
        changes=changes,
        scope=widest_scope(changes),
    )


def _point(run: SeriesRun, order: Mapping[str, int], pin: StoredPin | None) -> SeriesPoint:
    return SeriesPoint.model_validate(
        {
            "run_id": run.id,
            "launch_id": run.launch_id,
            "session_id": run.session_id,
            "stack": order[run.stack_key],
            "host": run.host,
            "state": run.state,
            "judged": run.may_be_judged,
            "drifted": run.is_drifted,
            "imported": run.is_imported,
            "withdrawn": run.is_withdrawn,
            "is_baseline": pin is not None and pin.pin.stack_key == run.stack_key,
            "measured_at": run.measured_at,
            "median": run.median,
            "min": run.min,
            "max": run.max,
            "repeats": run.repeats,
        }
    )


def _pin(session: ReadSession, key: SeriesKey, channel: str) -> StoredPin | None:
    pins = baselines.in_force(session, channel=channel, conditions=[key.cell.condition_key])
    return pins.get(key.cell)


def _band(session: ReadSession, key: SeriesKey, stored: StoredPin) -> BaselineBand:
    pin = stored.pin
    runs = series.of_stack(session, key, pin.stack_key, limit=BAND_RUNS)
    medians = [run.median for run in runs if run.may_be_judged and run.median is not None]
    return BaselineBand(
        stack_key=pin.stack_key,
        stack_name=stacks.names(session, [pin.stack_key])[pin.stack_key],
        pinned_at=pin.pinned_at,
        pinned_by=pin.pinned_by,
        why=pin.why,
        runs=len(medians),
        level=_over(median, medians),
        low=_over(min, medians),
        high=_over(max, medians),
    )


def _cursor(place: Place) -> str:
    words = [
        place.built_at.isoformat(),
        place.stack_key,
        place.measured_at.isoformat(),
        str(place.run_id),
    ]
    return urlsafe_b64encode(json.dumps(words).encode()).decode()


def _read_cursor(cursor: str) -> Place:
    """Return the place that an earlier page ended at. Raises CursorError."""
    try:
        built_at, stack_key, measured_at, run_id = json.loads(urlsafe_b64decode(cursor))
        place = Place(
            date.fromisoformat(built_at),
            str(stack_key),
            datetime.fromisoformat(measured_at),
            UUID(run_id),
        )
    except (ValueError, TypeError, AttributeError) as error:
        raise CursorError from error
    if place.measured_at.tzinfo is None:
        raise CursorError
    return place
