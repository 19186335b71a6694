"""Read throughput beside latency over measured loads, and what capacity that makes."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from service.domain.capacity import (
    Capacity,
    Limit,
    Load,
    capacity_of,
    cards_for,
    kept,
    per_card,
)
from service.domain.cell import Cell, title_but_load
from service.domain.condition import Condition
from service.domain.metric import LATENCIES, metric_named
from service.formats.curves import (
    CapacityRead,
    CardsNeededRead,
    CurveRead,
    CurvesRead,
    LevelRead,
    LimitRead,
    LoadRead,
    SideRead,
)
from service.formats.matrix_view import ConditionFields
from service.formats.stack_differences import StackNamed
from service.stats.interval import Interval
from service.stats.launch_level import level_of
from service.store import conditions, launch_levels, marks, stacks
from service.store.database import ReadSession
from service.store.launch_levels import LaunchLevel

THROUGHPUT = "output_throughput"
CONFIDENCE = 0.95
# As many values of single launches as are looked at, and as many curves as are answered.
VALUES = 200_000
CURVES = 200


class NotALatencyError(ValueError):
    """A limit was set on something that is no latency."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} is no latency: limits are set on {', '.join(LATENCIES)}")


@dataclass(frozen=True, slots=True)
class CurveQuestion:
    """What is asked. stacks: keys, what they begin with, or names. latencies: names of metrics.

    limits: the most seconds by metric name. traffic: output tokens per second, or None.
    """

    stacks: Sequence[str]
    latencies: Sequence[str]
    limits: Mapping[str, float]
    traffic: float | None = None
    host: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class _Point:
    """One measured load: its condition, its levels, and by how many launches."""

    condition: Condition
    load: Load
    launches: int


# A curve: conditions but for their load, a protocol, a host. Points by stack.
_Place = tuple[str, str, str]
_Curves = Mapping[_Place, Mapping[str, Sequence[_Point]]]


def rests_on(session: ReadSession, asked: CurveQuestion) -> str:
    """Return a text that is another one whenever the curves may be.

    Raises what read_curves() raises.
    """
    _latencies(asked)
    return marks.of_stacks(session, {stacks.read(session, key).stack.key for key in asked.stacks})


def read_curves(session: ReadSession, asked: CurveQuestion) -> CurvesRead:
    """Return the curves of some stacks, those with the most loads first.

    Raises UnknownStackError, UnknownMetricError and NotALatencyError.
    """
    limits = [Limit(metric_named(name), most) for name, most in asked.limits.items()]
    latencies = _latencies(asked)
    found = [stacks.read(session, key).stack for key in asked.stacks]
    names = {stack.key: stack.name for stack in found}
    named = [StackNamed(name=name, key=key) for key, name in names.items()]
    curves = _curves(session, asked, [stack.key for stack in named], (THROUGHPUT, *latencies))
    longest = sorted(curves.items(), key=lambda each: (-_length(each[1]), each[0]))[:CURVES]
    return CurvesRead(
        stacks=tuple(named),
        metrics=latencies,
        limits=tuple(LimitRead(metric=each.metric.name, most=each.most) for each in limits),
        traffic=asked.traffic,
        confidence=CONFIDENCE,
        curves=tuple(
            _curve(place, points, named, limits, asked.traffic) for place, points in longest
        ),
    )


def _latencies(asked: CurveQuestion) -> tuple[str, ...]:
    """Return what is asked for beside the throughput, each once."""
    names = tuple(dict.fromkeys([*asked.latencies, *asked.limits]))
    for name in names:
        if metric_named(name).name.partition("_")[0] not in LATENCIES:
            raise NotALatencyError(name)
    return names


def _length(points: Mapping[str, Sequence[_Point]]) -> int:
    return max(len(of_stack) for of_stack in points.values())


def _curves(
    session: ReadSession, asked: CurveQuestion, keys: Sequence[str], metrics: Sequence[str]
) -> _Curves:
    values = launch_levels.of_stacks(session, keys, metrics=metrics, host=asked.host, limit=VALUES)
    under = conditions.by_key(session, {value.cell.condition_key for value in values})
    curves: dict[_Place, dict[str, list[_Point]]] = defaultdict(lambda: defaultdict(list))
    for (stack_key, cell, host), by_metric in _by_square(values).items():
        condition = under[cell.condition_key]
        if asked.model is not None and condition.model.id != asked.model:
            continue
        if (point := _point(condition, by_metric)) is not None:
            place = (condition.key_but_load, cell.protocol_key, host)
            curves[place][stack_key].append(point)
    return curves


def _by_square(
    values: Sequence[LaunchLevel],
) -> Mapping[tuple[str, Cell, str], Mapping[str, Sequence[float]]]:
    squares: dict[tuple[str, Cell, str], dict[str, list[float]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for value in values:
        # A rate or a time of 0 has no level; its run fell at a gate if that is wrong.
        if value.median > 0:
            squares[value.stack_key, value.cell, value.host][value.metric].append(value.median)
    return squares


def _point(condition: Condition, by_metric: Mapping[str, Sequence[float]]) -> _Point | None:
    traffic = condition.traffic
    amount = traffic.rate if traffic.concurrency is None else float(traffic.concurrency)
    if amount is None:
        return None
    levels = {name: level_of(of, confidence=CONFIDENCE) for name, of in by_metric.items()}
    return _Point(condition, Load(amount, levels), max(map(len, by_metric.values())))


def _curve(
    place: _Place,
    points: Mapping[str, Sequence[_Point]],
    named: Sequence[StackNamed],
    limits: Sequence[Limit],
    traffic: float | None,
) -> CurveRead:
    _, protocol_key, host = place
    condition = next(iter(points.values()))[0].condition
    return CurveRead(
        title=title_but_load(condition),
        fields=ConditionFields.of(condition),
        protocol_key=protocol_key,
        host=host,
        cards=condition.cards.count,
        load=condition.traffic.load,
        sides=tuple(
            _side(stack, points[stack.key], limits, traffic)
            for stack in named
            if stack.key in points
        ),
    )


def _side(
    stack: StackNamed, points: Sequence[_Point], limits: Sequence[Limit], traffic: float | None
) -> SideRead:
    ordered = sorted(points, key=lambda point: point.load.amount)
    cards = ordered[0].condition.cards.count
    found = capacity_of([point.load for point in ordered], limits) if limits else None
    return SideRead(
        stack=stack,
        loads=tuple(_load(point, limits) for point in ordered),
        capacity=None if found is None else _capacity(found, traffic, cards),
    )


def _load(point: _Point, limits: Sequence[Limit]) -> LoadRead:
    levels = point.load.levels
    return LoadRead(
        amount=point.load.amount,
        condition_key=point.condition.key,
        launches=point.launches,
        throughput=_level(levels[THROUGHPUT]) if THROUGHPUT in levels else None,
        latencies={name: _level(of) for name, of in levels.items() if name != THROUGHPUT},
        kept=kept(point.load, limits) if limits else None,
    )


def _capacity(found: Capacity, traffic: float | None, cards: int) -> CapacityRead:
    server = None if found.load is None else found.load.levels.get(THROUGHPUT)
    needed = None
    if server is not None and traffic is not None:
        counted = cards_for(traffic, server, cards=cards)
        needed = CardsNeededRead(expected=counted.expected, most=counted.most)
    return CapacityRead(
        amount=None if found.load is None else found.load.amount,
        bound=found.bound,
        goodput_per_card=None if server is None else _level(per_card(server, cards)),
        cards_needed=needed,
    )


def _level(of: Interval) -> LevelRead:
    # No launch beside it: there are no bounds, and 0 is not one.
    low = of.low or None
    return LevelRead(level=of.center, low=low, high=None if low is None else of.high)
