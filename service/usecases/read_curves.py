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
from service.store.measured import Measured
from service.usecases.measured_squares import measured_squares
from service.usecases.pieces import Pieces, joined

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
class SideTold:
    """One stack on a curve as JSON, and how many loads it has."""

    content: bytes
    loads: int

    @property
    def weight(self) -> int:
        """Its bytes, and about as many for its name."""
        return 2 * len(self.content)


@dataclass(frozen=True, slots=True)
class _Point:
    """One measured load: its condition, its levels, and by how many launches."""

    condition: Condition
    load: Load
    launches: int


@dataclass(frozen=True, slots=True)
class _Square:
    """What is measured of a stack at one load, whose amount is known."""

    condition: Condition
    amount: float
    found: Measured


@dataclass(frozen=True, slots=True)
class _Side:
    """One stack on a curve: what is measured of it, the lowest load first."""

    stack: StackNamed
    squares: Sequence[_Square]

    @property
    def name(self) -> tuple[object, ...]:
        """All that it rests on, but for what is asked of it."""
        told = ((square.condition.key, square.found.told) for square in self.squares)
        return (self.stack.key, self.squares[0].found.cell.protocol_key, *told)


# A curve: conditions but for their load, a protocol, a host. Its sides are in the order asked for.
_Place = tuple[str, str, str]
_Curves = Mapping[_Place, Sequence[_Side]]
# What launches gave, by stack, cell and host, and then by metric.
_Levels = Mapping[tuple[str, Cell, str], Mapping[str, Sequence[float]]]


def rests_on(session: ReadSession, asked: CurveQuestion) -> str:
    """Return a text that is another one whenever the curves may be.

    Raises what read_curves() raises.
    """
    _latencies(asked)
    return marks.of_stacks(session, {stacks.read(session, key).stack.key for key in asked.stacks})


def read_curves(
    session: ReadSession,
    asked: CurveQuestion,
    *,
    sides: Pieces[SideTold],
    squares: Pieces[Measured],
) -> bytes:
    """Return the curves of some stacks as JSON, those with the most loads first.

    sides, squares: those that were told before, of which only what changed since is told anew.
    Raises UnknownStackError, UnknownMetricError and NotALatencyError.
    """
    limits = [Limit(metric_named(name), most) for name, most in asked.limits.items()]
    latencies = _latencies(asked)
    found = [stacks.read(session, key).stack for key in asked.stacks]
    names = {stack.key: stack.name for stack in found}
    named = [StackNamed(name=name, key=key) for key, name in names.items()]
    curves = _curves(session, asked, named, squares)
    every = [side for of_curve in curves.values() for side in of_curve]
    asked_of = latencies, tuple(sorted(asked.limits.items())), asked.traffic

    def tell(missing: Sequence[int]) -> Sequence[SideTold]:
        lacking = [every[place] for place in missing]
        levels = _levels(session, lacking, (THROUGHPUT, *latencies))
        return [_side(side, levels, limits, asked.traffic) for side in lacking]

    told = iter(sides.told([(asked_of, side.name) for side in every], tell))
    drawn = {place: [next(told) for _ in of_curve] for place, of_curve in curves.items()}
    longest = sorted(
        (place for place in curves if _length(drawn[place])),
        key=lambda place: (-_length(drawn[place]), place),
    )
    read = CurvesRead(
        stacks=tuple(named),
        metrics=latencies,
        limits=tuple(LimitRead(metric=each.metric.name, most=each.most) for each in limits),
        traffic=asked.traffic,
        confidence=CONFIDENCE,
        curves=(),
    )
    return joined(
        read,
        "curves",
        [_curve(place, curves[place], drawn[place]) for place in longest[:CURVES]],
    )


def _latencies(asked: CurveQuestion) -> tuple[str, ...]:
    """Return what is asked for beside the throughput, each once."""
    names = tuple(dict.fromkeys([*asked.latencies, *asked.limits]))
    for name in names:
        if metric_named(name).name.partition("_")[0] not in LATENCIES:
            raise NotALatencyError(name)
    return names


def _length(sides: Sequence[SideTold]) -> int:
    return max(side.loads for side in sides)


def _curves(
    session: ReadSession,
    asked: CurveQuestion,
    named: Sequence[StackNamed],
    squares: Pieces[Measured],
) -> _Curves:
    found = measured_squares(session, [stack.key for stack in named], kept=squares)
    under = conditions.by_key(session, {each.cell.condition_key for each in found})
    curves: dict[_Place, dict[str, list[_Square]]] = defaultdict(lambda: defaultdict(list))
    for each in found:
        condition = under[each.cell.condition_key]
        amount = _amount(condition)
        wanted = asked.host in {None, each.host} and asked.model in {None, condition.model.id}
        if wanted and amount is not None:
            place = (condition.key_but_load, each.cell.protocol_key, each.host)
            curves[place][each.stack_key].append(_Square(condition, amount, each))
    return {
        place: [
            _Side(stack, sorted(by_stack[stack.key], key=lambda square: square.amount))
            for stack in named
            if stack.key in by_stack
        ]
        for place, by_stack in curves.items()
    }


def _amount(condition: Condition) -> float | None:
    traffic = condition.traffic
    return traffic.rate if traffic.concurrency is None else float(traffic.concurrency)


def _levels(session: ReadSession, sides: Sequence[_Side], metrics: Sequence[str]) -> _Levels:
    """Return what the launches of some sides gave that may be judged."""
    values = launch_levels.of_stacks(
        session,
        {side.stack.key for side in sides},
        metrics=metrics,
        conditions={square.condition.key for side in sides for square in side.squares},
        limit=VALUES,
    )
    found: dict[tuple[str, Cell, str], dict[str, list[float]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for value in values:
        # A rate or a time of 0 has no level; its run fell at a gate if that is wrong.
        if value.median > 0:
            found[value.stack_key, value.cell, value.host][value.metric].append(value.median)
    return found


def _curve(place: _Place, sides: Sequence[_Side], told: Sequence[SideTold]) -> bytes:
    _, protocol_key, host = place
    condition = sides[0].squares[0].condition
    curve = CurveRead(
        title=title_but_load(condition),
        fields=ConditionFields.of(condition),
        protocol_key=protocol_key,
        host=host,
        cards=condition.cards.count,
        load=condition.traffic.load,
        sides=(),
    )
    return joined(curve, "sides", [side.content for side in told if side.loads])


def _side(side: _Side, levels: _Levels, limits: Sequence[Limit], traffic: float | None) -> SideTold:
    points = [
        _point(square, of_square)
        for square in side.squares
        if (of_square := levels.get(square.found[:3]))
    ]
    found = capacity_of([point.load for point in points], limits) if limits and points else None
    cards = side.squares[0].condition.cards.count
    read = SideRead(
        stack=side.stack,
        loads=tuple(_load(point, limits) for point in points),
        capacity=None if found is None else _capacity(found, traffic, cards),
    )
    return SideTold(read.model_dump_json().encode(), len(points))


def _point(square: _Square, by_metric: Mapping[str, Sequence[float]]) -> _Point:
    levels = {name: level_of(of, confidence=CONFIDENCE) for name, of in by_metric.items()}
    launches = max(map(len, by_metric.values()))
    return _Point(square.condition, Load(square.amount, levels), launches)


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
