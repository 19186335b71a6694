"""Read scaling: every pair of one and several cards that was measured on one stack and host."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from service.domain.cell import Cell, title
from service.domain.condition import Condition
from service.domain.host import UNKNOWN_HOST
from service.domain.metric import Metric, metric_named
from service.domain.scaling import is_on_one_card, scaling_of
from service.formats.matrix_view import ConditionFields
from service.formats.scaling import ScalingPoint, ScalingRead, ScalingRow
from service.formats.stack_differences import StackNamed
from service.stats import change as changes
from service.stats.change import change_of, level_of
from service.stats.interval import Interval
from service.store import conditions, launch_levels, marks, stacks
from service.store.database import ReadSession
from service.store.launch_levels import LaunchSample
from service.store.measured import Measured
from service.usecases.measured_squares import measured_squares
from service.usecases.pieces import Pieces, joined

# The newest runs that are looked at, and of one cell of a stack on a host.
RUNS = 100_000
RUNS_OF_CELL = 2000
# About what the name of a row takes in memory.
NAME_BYTES = 2000

Launches = Sequence[Sequence[float]]


@dataclass(frozen=True, slots=True)
class ScalingQuestion:
    """What is asked. stack: a key, its first digits or a name; None: every stack."""

    metric: str
    stack: str | None
    host: str | None
    model: str | None
    limit: int


@dataclass(frozen=True, slots=True)
class RowScaled:
    """A row as JSON, and its place among the others; no JSON where too little may be judged."""

    content: bytes
    order: tuple[str, str, str]

    @property
    def weight(self) -> int:
        """Its bytes, and about as many for its name."""
        return 2 * len(self.content) + NAME_BYTES


@dataclass(frozen=True, slots=True)
class _Place:
    """One workload on one stack and host, measured on several numbers of cards.

    conditions, found: its conditions, and what is measured under each, by the condition's key.
    """

    stack_key: str
    host: str
    protocol_key: str
    conditions: Mapping[str, Condition]
    found: Mapping[str, Measured]

    @property
    def name(self) -> tuple[object, ...]:
        """All that its row rests on, but for the metric."""
        told = ((key, self.found[key].told) for key in sorted(self.found))
        return (self.stack_key, self.protocol_key, *told)


@dataclass(frozen=True, slots=True)
class _Level:
    """The judged runs of one condition at a place, oldest first; each is of a launch of its own."""

    condition: Condition
    runs: Sequence[LaunchSample]

    @property
    def launches(self) -> Launches:
        """Their values, one sequence a launch."""
        return [run.values for run in self.runs]


# The judged runs of each stack, cell and host.
_Samples = Mapping[tuple[str, Cell, str], Sequence[LaunchSample]]


def rests_on(session: ReadSession, asked: ScalingQuestion) -> str:
    """Return a text that is another one whenever the scaling may be.

    Raises what read_scaling() raises.
    """
    metric_named(asked.metric)
    return marks.of_stacks(session, _stack_keys(session, asked))


def read_scaling(
    session: ReadSession,
    asked: ScalingQuestion,
    *,
    rows: Pieces[RowScaled],
    squares: Pieces[Measured],
) -> bytes:
    """Return the scaling of every pair as JSON. Raises UnknownStackError and UnknownMetricError.

    Only runs that may be judged count. rows, squares: those that were told before, of which only
    what changed since is told anew.
    """
    metric = metric_named(asked.metric)
    places = _places(session, asked, squares)
    names = stacks.names(session, {place.stack_key for place in places})

    def tell(missing: Sequence[int]) -> Sequence[RowScaled]:
        lacking = [places[place] for place in missing]
        samples = _samples(session, asked, lacking)
        return [_scaled(_row(each, samples, metric, names[each.stack_key])) for each in lacking]

    told = rows.told([(metric.name, place.name) for place in places], tell)
    found = sorted((row for row in told if row.content), key=lambda row: row.order)
    read = ScalingRead(metric=metric.name, rows=())
    return joined(read, "rows", [row.content for row in found[: asked.limit]])


def _stack_keys(session: ReadSession, asked: ScalingQuestion) -> frozenset[str]:
    if asked.stack is not None:
        return frozenset({stacks.read(session, asked.stack).stack.key})
    return frozenset(found.stack.key for found in stacks.newest(session))


def _places(
    session: ReadSession, asked: ScalingQuestion, kept: Pieces[Measured]
) -> Sequence[_Place]:
    """Return where one card and several were measured alike."""
    squares = [
        square
        for square in measured_squares(session, _stack_keys(session, asked), kept=kept)
        if square.host != UNKNOWN_HOST and asked.host in {None, square.host}
    ]
    under = conditions.by_key(session, {square.cell.condition_key for square in squares})
    grouped: dict[tuple[str, str, str, str], dict[str, Measured]] = defaultdict(dict)
    for square in squares:
        condition = under[square.cell.condition_key]
        if asked.model in {None, condition.model.id}:
            protocol_key = square.cell.protocol_key
            place = (square.stack_key, square.host, protocol_key, condition.key_but_cards)
            grouped[place][condition.key] = square
    places = (
        _Place(stack_key, host, protocol_key, {key: under[key] for key in found}, found)
        for (stack_key, host, protocol_key, _), found in grouped.items()
    )
    return [place for place in places if _has_a_pair(place.conditions)]


def _has_a_pair(under: Mapping[str, Condition]) -> bool:
    return len(under) > 1 and any(map(is_on_one_card, under.values()))


def _samples(session: ReadSession, asked: ScalingQuestion, places: Sequence[_Place]) -> _Samples:
    """Return the newest runs at some places, read for all of them at once."""
    found: dict[tuple[str, Cell, str], list[LaunchSample]] = defaultdict(list)
    for run in launch_levels.samples_of_stacks(
        session,
        {place.stack_key for place in places},
        metric=asked.metric,
        conditions={key for place in places for key in place.conditions},
        limit=RUNS,
    ):
        found[run.stack_key, run.cell, run.host].append(run)
    return found


def _row(place: _Place, samples: _Samples, metric: Metric, name: str) -> ScalingRow | None:
    """Return the row of a place; None where too little of it may be judged."""
    levels = _levels(place, samples)
    one = next((each for each in levels if is_on_one_card(each.condition)), None)
    many = [each for each in levels if each is not one]
    if one is None or not many:
        return None
    return ScalingRow(
        stack=StackNamed(name=name, key=place.stack_key),
        host=place.host,
        title=title(one.condition),
        fields=ConditionFields.of(one.condition),
        one=_point(place, one),
        many=tuple(_compared(place, one, each, metric) for each in many),
    )


def _levels(place: _Place, samples: _Samples) -> Sequence[_Level]:
    """Return what may be judged at a place, the fewest cards first."""
    levels = []
    for key, condition in place.conditions.items():
        runs = samples.get((place.stack_key, Cell(key, place.protocol_key), place.host), ())
        if runs and all(value > 0 for run in runs for value in run.values):
            levels.append(_Level(condition, runs[-RUNS_OF_CELL:]))
    return sorted(levels, key=lambda level: level.condition.cards.count)


def _point(place: _Place, level: _Level, **compared: object) -> ScalingPoint:
    return ScalingPoint.model_validate(
        {
            "cards": level.condition.cards.count,
            "tp": level.condition.parallelism.tp,
            "condition_key": level.condition.key,
            "protocol_key": place.protocol_key,
            "level": level_of(level.launches),
            "launches": len(level.runs),
            "measured_at": max(run.measured_at for run in level.runs),
            **compared,
        }
    )


def _compared(place: _Place, one: _Level, many: _Level, metric: Metric) -> ScalingPoint:
    change = _change(one.launches, many.launches)
    found = scaling_of(change, cards=many.condition.cards.count, metric=metric)
    return _point(
        place,
        many,
        speedup=found.speedup,
        low=found.bounds and found.bounds.low,
        high=found.bounds and found.bounds.high,
        efficiency=found.efficiency,
        slower=found.slower,
    )


def _change(one: Launches, many: Launches) -> Interval:
    """Return the change from one card to several; one point where nothing tells a spread."""
    try:
        return change_of(one, many).interval
    except changes.TooFewValuesError:
        center = level_of(many) / level_of(one) - 1
        return Interval(center, center, center)


def _scaled(row: ScalingRow | None) -> RowScaled:
    if row is None:
        return RowScaled(b"", ("", "", ""))
    return RowScaled(row.model_dump_json().encode(), (row.stack.name, row.host, row.title))
