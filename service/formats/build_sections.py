"""How a matrix file says that an environment comes to be: built, found on a host, or an image."""

from typing import Annotated, Literal

from pydantic import Field

from service.domain.layer import Layer
from service.domain.stack import Component, SwapScope
from service.formats.identities import (
    BuildOrder,
    ContainerOrder,
    HostOrder,
    ImageDigest,
    ImageName,
    Mount,
)
from service.formats.lock_files import Lock
from service.formats.messages import Message

IMAGE = "image"


class BuildSection(Message):
    """A virtual environment from a hashed lock.

    lock: the lock's path, seen from the file that names it. torch: the release taken as the build
    for this chip; without it the lock pins torch. platform: a plugin that the runner brings.
    """

    kind: Literal["venv"]
    lock: str
    torch: str | None = None
    platform: str | None = None

    def order(self, lock: Lock) -> BuildOrder:
        """Return the build as a runner is asked for it."""
        return BuildOrder(lock=lock.digest, torch=self.torch, platform=self.platform)


class HostSection(Message):
    """What is installed on a host already: it is verified and nothing is installed.

    python: the measured Python's path there, or its name on the runner's path.
    """

    kind: Literal["host"]
    python: Annotated[str, Field(min_length=1, max_length=400)]

    def order(self) -> HostOrder:
        """Return what a runner is asked to verify."""
        return HostOrder(python=self.python)

    def components(self) -> tuple[Component, ...]:
        """Return none: what is there is observed."""
        return ()


class ContainerSection(Message):
    """An image pinned by its digest; the registry it comes from is the runner's setting.

    python: the measured Python in it. mounts: 'source:target' or 'source:target:ro'.
    """

    kind: Literal["container"]
    image: ImageName
    digest: ImageDigest
    python: Annotated[str, Field(min_length=1, max_length=400)] = "python3"
    mounts: Annotated[tuple[Mount, ...], Field(max_length=40)] = ()
    shm_size: Annotated[str, Field(pattern=r"^[1-9]\d*[kmg]$")] = "32g"

    def order(self) -> ContainerOrder:
        """Return what a runner is asked to run."""
        return ContainerOrder(
            image=self.image,
            digest=self.digest,
            python=self.python,
            mounts=self.mounts,
            shm_size=self.shm_size,
        )

    def components(self) -> tuple[Component, ...]:
        """Return the image as a component, under its name and digest."""
        version = f"{self.image}@{self.digest}"
        return (Component(IMAGE, version, Layer.RUNTIME, SwapScope.CONTAINER),)


AnySection = Annotated[BuildSection | HostSection | ContainerSection, Field(discriminator="kind")]
