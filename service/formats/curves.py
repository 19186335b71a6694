"""Throughput beside latency over measured loads, and the capacity under a reader's limits."""

from pydantic import NonNegativeInt, PositiveInt

from service.domain.capacity import Bound, Kept
from service.domain.condition import Load
from service.formats.identities import Key
from service.formats.matrix_view import ConditionFields
from service.formats.messages import Message
from service.formats.stack_differences import StackNamed


class LimitRead(Message):
    """The most that a latency may be, in seconds."""

    metric: str
    most: float


class LevelRead(Message):
    """A level in its base unit, and its bounds; null where one launch alone tells it."""

    level: float
    low: float | None
    high: float | None


class LoadRead(Message):
    """One measured load of one stack. amount: requests in flight, or per second.

    throughput: output tokens per second of one server. latencies: in seconds, by metric name;
    what was not measured is not there. kept: whether it keeps the limits; null without limits.
    """

    amount: float
    condition_key: Key
    launches: PositiveInt
    throughput: LevelRead | None
    latencies: dict[str, LevelRead]
    kept: Kept | None


class CardsNeededRead(Message):
    """Cards for the traffic asked about, in whole servers.

    expected: by the level. most: by its lower bound, null where there is none.
    """

    expected: NonNegativeInt
    most: NonNegativeInt | None


class CapacityRead(Message):
    """The highest load up to which every measured one keeps the limits.

    amount, goodput_per_card: null where no load certainly keeps them. goodput_per_card: output
    tokens per second at that load. cards_needed: null where no traffic was asked about.
    """

    amount: float | None
    bound: Bound
    goodput_per_card: LevelRead | None
    cards_needed: CardsNeededRead | None


class SideRead(Message):
    """One stack on a curve: its loads, lowest first. capacity: null where no limit is set."""

    stack: StackNamed
    loads: tuple[LoadRead, ...]
    capacity: CapacityRead | None


class CurveRead(Message):
    """Cells that differ in the amount of their load alone, on one host, by one protocol.

    sides: in the order of the stacks asked for; one that was not measured here is not there.
    """

    title: str
    fields: ConditionFields
    protocol_key: Key
    host: str
    cards: PositiveInt
    load: Load
    sides: tuple[SideRead, ...]


class CurvesRead(Message):
    """Curves, those with the most loads first. confidence: of every pair of bounds.

    traffic: output tokens per second that cards are counted for. Servers beside each other are
    taken not to slow one another.
    """

    stacks: tuple[StackNamed, ...]
    metrics: tuple[str, ...]
    limits: tuple[LimitRead, ...]
    traffic: float | None
    confidence: float
    curves: tuple[CurveRead, ...]
