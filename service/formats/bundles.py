"""A bundle for a site without a network: what is asked to be packed, and what it holds."""

from typing import Annotated, Literal

from pydantic import Base64Bytes, Field, NonNegativeInt, PositiveInt

from service.formats.identities import ImageDigest, ImageName, Key
from service.formats.messages import Message

MANIFEST = "manifest.json"
# It comes first in an archive, so that a host that cannot run the rest says so at once.
NEEDS = "needs.json"

Glibc = Annotated[str, Field(pattern=r"^2\.\d{1,3}$")]


class PackedEnvironment(Message):
    """A measured environment that goes along: what it is built from, as an order has it.

    serves: whether a stack is built from it; else it is a client's alone.
    """

    lock: Base64Bytes
    torch: str | None = None
    platform: str | None = None
    serves: bool = True


class WantedImage(Message):
    """An image that a stack names."""

    image: ImageName
    digest: ImageDigest


class BundleQuestion(Message):
    """What a bundle is made of, and where it is put.

    checkout: the sources of the runner's own distribution. matrix: a folder. python: a relocatable
    Python with the runner's minor version; None: a copy of the one below the runner's. glibc: the
    oldest C library that everything must run on; None: whatever its parts need.
    wanted: images of the plans' stacks. images: their archives. plugins: wheels.
    """

    version: Literal[1] = 1
    out: str
    checkout: str
    matrix: str
    python: str | None = None
    glibc: Glibc | None = None
    environments: tuple[PackedEnvironment, ...] = ()
    wanted: tuple[WantedImage, ...] = ()
    images: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()


class HostNeeds(Message):
    """What a host must have to run a bundle. parts: the C library that each part needs.

    size_bytes: of the disk, once it is unpacked. libraries: of the host, that its Python loads.
    """

    version: Literal[1] = 1
    machine: str
    glibc: Glibc
    parts: dict[str, Glibc]
    size_bytes: NonNegativeInt
    libraries: tuple[str, ...] = ()


class PackedImage(Message):
    """The archive of an image. id: what an engine calls the image by itself: its config's digest.

    digest: how stacks name it. place: of the archive, in the bundle.
    """

    image: ImageName
    digest: ImageDigest
    id: ImageDigest
    place: str


class PackedPlugin(Message):
    """The wheel of a plugin. digest: of the file."""

    digest: Key
    place: str


class BundleManifest(Message):
    """What lies in a bundle. files: SHA-256 by path. environments: their digests.

    glibc: the oldest C library that all of it runs on. python: 'python/bin/python3.11'.
    """

    version: Literal[1] = 1
    kunline: str
    python: str
    machine: str
    glibc: Glibc
    environments: tuple[Key, ...]
    files: dict[str, Key]
    images: tuple[PackedImage, ...] = ()
    plugins: tuple[PackedPlugin, ...] = ()


class BundleMade(Message):
    """A bundle that was made, and what of it asks for the newest C library.

    absent: images that stacks name and no archive was given for.
    """

    path: str
    size_bytes: PositiveInt
    files: PositiveInt
    glibc: Glibc
    needs: dict[str, Glibc]
    libraries: tuple[str, ...] = ()
    environments: tuple[Key, ...]
    images: tuple[PackedImage, ...] = ()
    plugins: tuple[PackedPlugin, ...] = ()
    absent: tuple[WantedImage, ...] = ()


class LoadedImage(Message):
    """An image of a bundle that was loaded. archive: where it lies.

    engine: the container engine that has it now; None where it is kept for one.
    """

    image: ImageName
    digest: ImageDigest
    archive: str
    engine: str | None = None


class BundleLoaded(Message):
    """A bundle that is ready where it lies. plugins: their wheels' paths."""

    root: str
    kunline: str
    python: str
    machine: str
    glibc: Glibc
    environments: tuple[Key, ...]
    images: tuple[LoadedImage, ...] = ()
    plugins: tuple[str, ...] = ()
