"""Read scaling: every pair of one and several cards that was measured on one stack and host."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from service.domain.cell import Cell, title
from service.domain.condition import Condition
from service.domain.host import UNKNOWN_HOST
from service.domain.metric import Metric, metric_named
from service.domain.scaling import alike, is_on_one_card, scaling_of
from service.formats.matrix_view import ConditionFields
from service.formats.scaling import ScalingPoint, ScalingRead, ScalingRow
from service.formats.stack_differences import StackNamed
from service.stats import change as changes
from service.stats.change import change_of, level_of
from service.stats.interval import Interval
from service.store import conditions, measured, runs, samples, stacks
from service.store.database import ReadSession
from service.store.measured import Measured
from service.store.runs import StoredRun

SQUARES = 100_000
# The newest runs of one stack on one host that are looked at.
RUNS = 2000

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
    """The judged runs of one condition at a place: their values, one sequence a launch."""

    condition: Condition
    runs: Sequence[StoredRun]
    launches: Launches


def read_scaling(session: ReadSession, asked: ScalingQuestion) -> ScalingRead:
    """Return the scaling of every pair. Raises UnknownStackError and UnknownMetricError.

    Only runs that may be judged count.
    """
    metric = metric_named(asked.metric)
    places = _places(session, asked)
    names = stacks.names(session, {place.stack_key for place in places})
    found = (_row(session, place, metric, names[place.stack_key]) for place in places)
    rows = sorted((row for row in found if row is not None), key=_order)
    return ScalingRead(metric=metric.name, rows=tuple(rows[: asked.limit]))


def _places(session: ReadSession, asked: ScalingQuestion) -> Sequence[_Place]:
    """Return where one card and several were measured alike."""
    if asked.stack is None:
        keys = {found.stack.key for found in stacks.newest(session)}
    else:
        keys = {stacks.read(session, asked.stack).stack.key}
    squares = [
        square
        for square in measured.of_stacks(session, keys, limit=SQUARES)
        if square.host != UNKNOWN_HOST and asked.host in {None, square.host}
    ]
    under = conditions.by_key(session, {square.cell.condition_key for square in squares})
    grouped: dict[tuple[str, str, str, str], list[Measured]] = defaultdict(list)
    for square in squares:
        condition = under[square.cell.condition_key]
        if asked.model in {None, condition.model.id}:
            place = (square.stack_key, square.host, square.cell.protocol_key, alike(condition))
            grouped[place].append(square)
    return [
        _Place(stack_key, host, protocol_key, of_place)
        for (stack_key, host, protocol_key, _), found in grouped.items()
        if _has_a_pair(of_place := {key: under[key] for key in map(_condition_key, found)})
    ]


def _has_a_pair(under: Mapping[str, Condition]) -> bool:
    return len(under) > 1 and any(map(is_on_one_card, under.values()))


def _condition_key(square: Measured) -> str:
    return square.cell.condition_key


def _row(session: ReadSession, place: _Place, metric: Metric, name: str) -> ScalingRow | None:
    """Return the row of a place; None where too little of it may be judged."""
    levels = _levels(session, place, metric)
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


def _levels(session: ReadSession, place: _Place, metric: Metric) -> Sequence[_Level]:
    """Return what may be judged at a place, the fewest cards first."""
    found = runs.of_stack(
        session, place.stack_key, conditions=set(place.conditions), host=place.host, limit=RUNS
    )
    kept = [run for run in found if run.may_be_judged and _is_of(run.cell, place)]
    values = samples.of_runs(session, [run.id for run in kept], metrics={metric.name})
    levels = []
    for key, condition in place.conditions.items():
        of_cell = [
            run for run in kept if run.condition_key == key and metric.name in values[run.id]
        ]
        launches = [values[run.id][metric.name] for run in of_cell]
        if launches and all(value > 0 for launch in launches for value in launch):
            levels.append(_Level(condition, of_cell, launches))
    return sorted(levels, key=lambda level: level.condition.cards.count)


def _is_of(cell: Cell, place: _Place) -> bool:
    return cell.protocol_key == place.protocol_key


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
