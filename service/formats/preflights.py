"""What is asked of a preflight on this host, and what it answers."""

from typing import Literal

from pydantic import Base64Bytes, Field, PositiveFloat, PositiveInt

from service.domain.layer import Layer
from service.formats.identities import Name, StackOrder
from service.formats.messages import Message
from service.formats.reports import LayerFinding


class PreflightQuestion(Message):
    """Which chip to look at, and as which stack would use it.

    stack is None for a look at the host alone. lock: its lock's bytes, where it is built from one.
    build: whether an environment that is not here yet is built. cards: None for all there are.
    limit_s: no layer is given longer, whatever its own limit is. anyway: whether to look although
    the host's window is closed or it is being drained.
    """

    version: Literal[1] = 1
    chip: Name
    stack: StackOrder | None = None
    lock: Base64Bytes | None = None
    build: bool = False
    cards: PositiveInt | None = None
    limit_s: PositiveFloat | None = None
    anyway: bool = False


class PreflightAnswer(Message):
    """What each layer showed, from the metal up to the first that is broken."""

    layers: tuple[LayerFinding, ...] = Field(min_length=1)
    broken_at: Layer | None = None
