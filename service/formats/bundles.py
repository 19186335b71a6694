"""A bundle for a site without a network: what is asked to be packed, and what it holds."""

from typing import Annotated, Literal

from pydantic import Base64Bytes, Field, PositiveInt

from service.formats.identities import Key
from service.formats.messages import Message

MANIFEST = "manifest.json"

Glibc = Annotated[str, Field(pattern=r"^2\.\d{1,3}$")]


class PackedEnvironment(Message):
    """A measured environment that goes along: what it is built from, as an order has it."""

    lock: Base64Bytes
    torch: str | None = None
    platform: str | None = None


class BundleQuestion(Message):
    """What a bundle is made of, and where it is put.

    checkout: the sources of the runner's own distribution. matrix: a folder. python: a relocatable
    Python with the runner's minor version; None: a copy of the one below the runner's. glibc: the
    oldest C library that everything must run on; None: whatever its parts need.
    """

    version: Literal[1] = 1
    out: str
    checkout: str
    matrix: str
    python: str | None = None
    glibc: Glibc | None = None
    environments: tuple[PackedEnvironment, ...] = ()


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


class BundleMade(Message):
    """A bundle that was made, and what of it asks for the newest C library."""

    path: str
    size_bytes: PositiveInt
    files: PositiveInt
    glibc: Glibc
    needs: dict[str, Glibc]
    environments: tuple[Key, ...]
