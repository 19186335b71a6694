"""What cards tell each other: as a runner saw it beside a launch, and as it is answered."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, FiniteFloat, NonNegativeInt, PositiveFloat, PositiveInt

from service.domain.communication import Curve, Kind, Shape
from service.formats.identities import Key
from service.formats.messages import Message
from service.formats.stack_differences import StackNamed

# The artefact of a launch that holds what was seen.
ARTEFACT = "communication.json"

Pair = Annotated[str, Field(pattern=r"^\d+-\d+$")]


class CommunicationSeen(Message):
    """What decides the messages of one launch, and how long messages take between its cards.

    hidden, layers, vocabulary: of the model's own config. value_bytes: of an activation.
    seconds: of one all-reduce by its size in bytes, measured before the launch on its cards.
    links: bytes per second of two cards by themselves, by their numbers. chunk: tokens of one
    prefill pass at most, as the server settled it; None where it tells none.
    """

    version: Literal[1] = 1
    ranks: PositiveInt
    hidden: PositiveInt
    layers: PositiveInt
    vocabulary: PositiveInt
    value_bytes: PositiveInt
    seconds: dict[PositiveInt, PositiveFloat] = Field(min_length=1)
    links: dict[Pair, PositiveFloat] = Field(default_factory=dict)
    chunk: PositiveInt | None = None

    @property
    def shape(self) -> Shape:
        """What of the model decides its messages."""
        return Shape(self.hidden, self.layers, self.vocabulary, self.value_bytes)

    @property
    def speeds(self) -> dict[tuple[int, int], float]:
        """Bytes per second by the numbers of two cards."""
        pairs = {tuple(map(int, pair.split("-"))): speed for pair, speed in self.links.items()}
        return {(one, other): speed for (one, other), speed in pairs.items()}

    @property
    def curve(self) -> Curve:
        """How long messages take."""
        return Curve(self.seconds)


class PhaseRead(Message):
    """The communication of a decoded token, or of a prefill.

    message_bytes: of one sum over the cards. messages: how many of a forward pass. pass_bytes: of
    a whole pass. passes: how many a prefill takes. seconds: estimated from the measured curve.
    measured_s: median TPOT or TTFT. share: the estimate over it. at_least: the measured time holds
    other requests' passes as well, so that the true share of communication is no lower.
    """

    message_bytes: NonNegativeInt
    messages: NonNegativeInt
    pass_bytes: NonNegativeInt
    passes: PositiveInt
    kind: Kind
    seconds: FiniteFloat
    measured_s: PositiveFloat
    share: FiniteFloat
    at_least: bool = False


class CellCommunication(Message):
    """One cell of one stack: what of its time is communication. reason: why nothing is estimated.

    launches: whose curve and values it rests on.
    """

    condition_key: Key
    protocol_key: Key
    title: str
    stack: StackNamed
    host: str
    tp: PositiveInt
    input_tokens: NonNegativeInt
    concurrency: int | None
    decode: PhaseRead | None
    prefill: PhaseRead | None
    launches: tuple[UUID, ...]
    reason: str = ""


class CommunicationRead(Message):
    """The cells of a session, by model and layout and then by input length, and slow links."""

    session_id: UUID
    cells: tuple[CellCommunication, ...]
    slow_links: tuple[str, ...] = ()
