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
from service.store import conditions, launch_levels, marks, measured, stacks
from service.store.database import ReadSession
from service.store.launch_levels import LaunchSample

SQUARES = 100_000
# The newest runs that are looked at, and of one cell of a stack on a host.
RUNS = 100_000
RUNS_OF_CELL = 2000

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
class _Place:
    """One workload on one stack and host, measured on several numbers of cards."""

    stack_key: str
    host: str
    protocol_key: str
    conditions: Mapping[str, Condition]


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


def read_scaling(session: ReadSession, asked: ScalingQuestion) -> ScalingRead:
    """Return the scaling of every pair. Raises UnknownStackError and UnknownMetricError.

    Only runs that may be judged count.
    """
    metric = metric_named(asked.metric)
    places = _places(session, asked)
    names = stacks.names(session, {place.stack_key for place in places})
    samples = _samples(session, asked, places)
    found = (_row(place, samples, metric, names[place.stack_key]) for place in places)
    rows = sorted((row for row in found if row is not None), key=_order)
    return ScalingRead(metric=metric.name, rows=tuple(rows[: asked.limit]))


def _stack_keys(session: ReadSession, asked: ScalingQuestion) -> frozenset[str]:
    if asked.stack is not None:
        return frozenset({stacks.read(session, asked.stack).stack.key})
    return frozenset(found.stack.key for found in stacks.newest(session))


def _places(session: ReadSession, asked: ScalingQuestion) -> Sequence[_Place]:
    """Return where one card and several were measured alike."""
    squares = [
        square
        for square in measured.squares_of_stacks(
            session, _stack_keys(session, asked), limit=SQUARES
        )
        if square[2] != UNKNOWN_HOST and asked.host in {None, square[2]}
    ]
    under = conditions.by_key(session, {cell.condition_key for _, cell, _ in squares})
    grouped: dict[tuple[str, str, str, str], dict[str, Condition]] = defaultdict(dict)
    for stack_key, cell, host in squares:
        condition = under[cell.condition_key]
        if asked.model in {None, condition.model.id}:
            place = (stack_key, host, cell.protocol_key, condition.key_but_cards)
            grouped[place][cell.condition_key] = condition
    return [
        _Place(stack_key, host, protocol_key, found)
        for (stack_key, host, protocol_key, _), found in grouped.items()
        if _has_a_pair(found)
    ]


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
        host=asked.host,
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


def _order(row: ScalingRow) -> tuple[str, str, str]:
    return row.stack.name, row.host, row.title
