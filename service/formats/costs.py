"""What cells cost when they were measured before."""

from pydantic import NonNegativeFloat, PositiveInt

from service.formats.identities import Key
from service.formats.messages import Message


class CostRead(Message):
    """What a launch of one cell took, medians of the newest, in seconds.

    start_s: all of the launch that is not its cells. repeat_s: one repeat and what lies around it.
    launches: of each stack, when the cell was measured last.
    """

    condition_key: Key
    start_s: NonNegativeFloat
    repeat_s: NonNegativeFloat
    launches: PositiveInt
