"""What is proposed to be measured next."""

from pydantic import NonNegativeFloat, NonNegativeInt

from service.formats.messages import Message


class ProposalRead(Message):
    """One proposal: why, how many cells, how long it takes the cards, and its command."""

    name: str
    why: str
    cells: NonNegativeInt
    seconds: NonNegativeFloat
    worth: NonNegativeFloat
    command: str | None


class CoverageRead(Message):
    """Proposals within a budget of card time. left: how many more did not fit into it."""

    budget_s: NonNegativeFloat
    seconds: NonNegativeFloat
    proposals: tuple[ProposalRead, ...]
    left: NonNegativeInt
