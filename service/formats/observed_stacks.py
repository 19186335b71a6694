"""How the runner's side is asked for what a host has, and what it answers."""

from typing import Annotated

from pydantic import Base64Bytes, Field, PositiveFloat, PositiveInt

from service.domain.layer import Layer
from service.domain.stack import Component, SwapScope
from service.formats.identities import Name
from service.formats.messages import Message

VERSION_CHARACTERS = 400


class ObservedQuestion(Message):
    """A host and a Python on it. python: its path; without it, the environment of a lock.

    imports: modules that the Python imports first, which load the chip's libraries. pid: a live
    server, whose libraries are told.
    """

    chip: Name
    python: str | None = None
    lock: Base64Bytes | None = None
    torch: str | None = None
    platform: str | None = None
    imports: Annotated[tuple[str, ...], Field(max_length=20)] = ()
    pid: PositiveInt | None = None
    limit_s: PositiveFloat = 180.0


class ObservedComponent(Message):
    """A component as it was seen; see service.domain.stack.Component."""

    name: Name
    version: str = Field(min_length=1, max_length=VERSION_CHARACTERS)
    layer: Layer
    scope: SwapScope
    recorded: bool

    def component(self) -> Component:
        """Return the component."""
        return Component(self.name, self.version, self.layer, self.scope, recorded=self.recorded)


class ObservedAnswer(Message):
    """What a host has. problems: what is wrong with its cards, and what could not be looked at.

    unknown: why nothing is known, and then there are no components.
    """

    python: str = ""
    components: tuple[ObservedComponent, ...] = ()
    problems: tuple[str, ...] = ()
    unknown: str = ""
