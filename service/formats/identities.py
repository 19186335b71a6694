"""Identities on the wire: each travels with its key, and a wrong key is refused at the door."""

from collections.abc import Sequence
from datetime import date
from typing import Annotated, Literal, Self, TypeVar

from pydantic import AfterValidator, Field, model_validator

from service.domain.condition import Condition
from service.domain.protocol import Protocol
from service.domain.stack import Stack
from service.formats.launch_sections import LaunchSection
from service.formats.messages import Message

Keyed = TypeVar("Keyed", bound=Message)

Key = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="A SHA-256 in hex.")]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+=-]{0,127}$")]
StackAsked = Annotated[
    Name, Field(description="A stack: its key, how that begins (four digits or more), or its name.")
]


def _all_different(value: Sequence[int]) -> Sequence[int]:
    if len(set(value)) != len(value):
        raise ValueError("a seed stands twice: each repeat needs its own")
    return value


Seeds = Annotated[
    tuple[int, ...], Field(min_length=1, max_length=100), AfterValidator(_all_different)
]


class KeyedCondition(Message):
    """A condition beside its key."""

    key: Key
    condition: Condition

    @classmethod
    def of(cls, condition: Condition) -> Self:
        """Return a condition as it travels."""
        return cls(key=condition.key, condition=condition)

    @model_validator(mode="after")
    def _key_is_its_content(self) -> Self:
        return _checked(self, self.key, self.condition.key)


class KeyedProtocol(Message):
    """A protocol beside its key."""

    key: Key
    protocol: Protocol

    @classmethod
    def of(cls, protocol: Protocol) -> Self:
        """Return a protocol as it travels."""
        return cls(key=protocol.key, protocol=protocol)

    @model_validator(mode="after")
    def _key_is_its_content(self) -> Self:
        return _checked(self, self.key, self.protocol.key)


class WheelOrder(Message):
    """A wheel that takes the place of a component: SHA-256 of its bytes, and of their parts.

    version: the component's, as the stack pins it; the wheel's own is part of its file's name.
    parts: fetched as artefacts and put together in this order.
    """

    component: Name
    version: str = Field(min_length=1, max_length=400)
    file: str = Field(pattern=r"^[A-Za-z0-9._+!-]{1,200}\.whl$")
    digest: Key
    parts: tuple[Key, ...] = Field(min_length=1, max_length=256)


Wheels = Annotated[tuple[WheelOrder, ...], Field(max_length=20)]


class BuildOrder(Message):
    """How an environment is made: its hashed lock by digest, its torch, its platform plugin.

    lock: SHA-256 of the lock's bytes, fetched as an artefact. torch: the release taken as the
    build for this chip, or None where the lock pins it. platform: a plugin shipped with the runner.
    wheels: installed after all that, each in place of what the lock pins of its component.
    """

    kind: Literal["venv"] = "venv"
    lock: Key
    torch: str | None = None
    platform: str | None = None
    wheels: Wheels = ()


# An image's name and tag without a registry's host, which a runner's settings hold.
ImageName = Annotated[
    str, Field(pattern=r"^[a-z0-9][a-z0-9._/-]{0,199}(:[A-Za-z0-9_][\w.-]{0,127})?$")
]
ImageDigest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
Mount = Annotated[str, Field(pattern=r"^/[^:,]{1,300}:/[^:,]{1,300}(:ro)?$")]


class HostOrder(Message):
    """An environment that lies on the host already. python: its path, or its name on the path.

    wheels: laid over it for a launch, each in place of what is installed under its name.
    """

    kind: Literal["host"] = "host"
    python: str = Field(min_length=1, max_length=400)
    wheels: Wheels = ()


class ContainerOrder(Message):
    """An image by name and digest, the Python in it, and what is mounted into it.

    wheels: laid over it for a launch, each in place of what is installed under its name.
    """

    kind: Literal["container"] = "container"
    image: ImageName
    digest: ImageDigest
    python: str = Field(default="python3", min_length=1, max_length=400)
    mounts: tuple[Mount, ...] = Field(default=(), max_length=40)
    shm_size: str = Field(default="32g", pattern=r"^[1-9]\d*[kmg]$")
    wheels: Wheels = ()


AnyBuild = BuildOrder | HostOrder | ContainerOrder


class StackOrder(Message):
    """A stack beside its key, when it was built, and how to build it here.

    built_at orders a series. build is None for a stack that no runner can build by itself.
    launch: by which program its server starts, and what its log then shows.
    """

    key: Key
    stack: Stack
    chip: Name
    built_at: date
    build: AnyBuild | None = Field(default=None, discriminator="kind")
    launch: LaunchSection = LaunchSection()

    @model_validator(mode="after")
    def _key_is_its_content(self) -> Self:
        return _checked(self, self.key, self.stack.key)


def _checked(message: Keyed, stated: str, computed: str) -> Keyed:
    if stated != computed:
        raise ValueError(f"the key {stated[:12]} is not that of the content, {computed[:12]}")
    return message
