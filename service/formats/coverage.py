"""What is proposed to be measured next."""

from pydantic import NonNegativeFloat, NonNegativeInt

from service.formats.compat_words import Said
from service.formats.messages import Message


class ProposalRead(Message):
    """One proposal: why, how many cells, how long it takes the cards, and its command.

    said: the reason in both languages. seconds: card time, from what the cells took when they were
    measured before. assumed: the cells that nobody measured, which count with a fixed figure.
    """

    name: str
    why: str
    said: Said
    cells: NonNegativeInt
    seconds: NonNegativeFloat
    assumed: NonNegativeInt = 0
    worth: NonNegativeFloat
    command: str | None


class CoverageRead(Message):
    """Proposals within a budget of card time. left: how many more did not fit into it."""

    budget_s: NonNegativeFloat
    seconds: NonNegativeFloat
    proposals: tuple[ProposalRead, ...]
    left: NonNegativeInt
