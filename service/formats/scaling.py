"""Scaling as it is answered: several cards against one, on one stack and in one workload."""

from pydantic import AwareDatetime, FiniteFloat, PositiveFloat, PositiveInt

from service.formats.identities import Key
from service.formats.matrix_view import ConditionFields
from service.formats.messages import Message
from service.formats.stack_differences import StackNamed


class ScalingPoint(Message):
    """One number of cards. level: of the metric, in its base unit.

    speedup: of one card's; above 1 is faster. low, high: of the speedup at 95 % confidence, null
    where nothing tells a spread. efficiency: the speedup over the ratio of cards; 1 is perfect.
    slower: several cards are slower than one, all of the bounds; false where there are none.
    """

    cards: PositiveInt
    tp: PositiveInt
    condition_key: Key
    protocol_key: Key
    level: PositiveFloat
    launches: PositiveInt
    measured_at: AwareDatetime
    speedup: FiniteFloat = 1.0
    low: FiniteFloat | None = None
    high: FiniteFloat | None = None
    efficiency: FiniteFloat = 1.0
    slower: bool = False


class ScalingRow(Message):
    """One workload on one stack and host. title, fields: of the condition on one card.

    many: every number of cards that was measured beside one, the fewest first.
    """

    stack: StackNamed
    host: str
    title: str
    fields: ConditionFields
    one: ScalingPoint
    many: tuple[ScalingPoint, ...]


class ScalingRead(Message):
    """Every pair of one and several cards that was measured."""

    metric: str
    rows: tuple[ScalingRow, ...]
