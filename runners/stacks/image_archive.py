"""An image as a file: which image it is by its own digests, and whether all of it is there.

Two layouts are read, also packed by gzip: the OCI image layout (an `oci-archive`, and what newer
engines save), and the older docker-archive. Formats as the OCI image specification 1.1 and the
engine's own documents of `save` have them; no archive of a real engine was at hand.
"""

import json
import platform
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any

BLOBS = "blobs/sha256/"
# Manifests and configs are small; of the rest only the digest is kept.
KEPT_BYTES = 8 * 2**20
PIECE_BYTES = 2**20
NESTED_MAX = 4
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


class ImageDamagedError(ValueError):
    """A file is no archive of an image, or not a whole one."""


@dataclass(frozen=True, slots=True)
class ArchivedImage:
    """An image in an archive.

    id: its config's digest, by which engines know it. digests: everything it may be pinned by: its
    manifest's digest, that of an index it stands in, and its id.
    """

    id: str
    digests: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Members:
    """The files of an archive: the SHA-256 of each, and the content of the small ones."""

    digests: Mapping[str, str]
    small: Mapping[str, bytes]

    def document(self, name: str) -> Any:
        """Return one of them as JSON. Raises ImageDamagedError."""
        if name not in self.small:
            raise ImageDamagedError(f"it has no {name}")
        try:
            return json.loads(self.small[name])
        except ValueError as error:
            raise ImageDamagedError(f"its {name} is no JSON") from error


def images_in(path: Path) -> Sequence[ArchivedImage]:
    """Return the images of an archive, every part of which is there and as its digest says.

    Raises ImageDamagedError.
    """
    try:
        members = _members(path)
        found = _oci(members) if "index.json" in members.small else _docker(members)
    except (tarfile.TarError, OSError, EOFError, KeyError, TypeError, AttributeError) as error:
        raise ImageDamagedError(f"{path} is no whole archive of an image: {error!r}") from error
    except ImageDamagedError as error:
        raise ImageDamagedError(f"{path}: {error}") from error
    if not found:
        raise ImageDamagedError(f"{path} holds no image")
    return found


def _members(path: Path) -> _Members:
    digests: dict[str, str] = {}
    small: dict[str, bytes] = {}
    with tarfile.open(path) as archive:
        for member in archive:
            # A layer that stands in it twice is a link the second time.
            if member.isdir() or (stream := archive.extractfile(member)) is None:
                continue
            name = str(PurePosixPath(member.name))
            digest, content = sha256(), bytearray()
            while piece := stream.read(PIECE_BYTES):
                digest.update(piece)
                if member.size <= KEPT_BYTES:
                    content += piece
            digests[name] = digest.hexdigest()
            if member.size <= KEPT_BYTES:
                small[name] = bytes(content)
            if name.startswith(BLOBS) and name != BLOBS + digests[name]:
                raise ImageDamagedError(f"{name} is not what its name says")
    return _Members(digests, small)


def _oci(members: _Members) -> Sequence[ArchivedImage]:
    """Return the images that an index leads to."""
    found: dict[str, set[str]] = {}
    for descriptor in members.document("index.json")["manifests"]:
        for image, digests in _below(members, descriptor["digest"], ()):
            found.setdefault(image, {image}).update(digests)
    return [ArchivedImage(image, frozenset(digests)) for image, digests in found.items()]


def _below(
    members: _Members, digest: str, above: tuple[str, ...]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the id of each image below a manifest or an index, and the digests on the way to it."""
    way = (*above, digest)
    told = members.document(_blob(digest))
    if "manifests" in told and len(way) <= NESTED_MAX:
        # An archive of one platform may name the others without having them.
        for each in told["manifests"]:
            if _blob(each["digest"]) in members.small:
                yield from _below(members, each["digest"], way)
        return
    for each in (told["config"], *told["layers"]):
        if _blob(each["digest"]) not in members.digests:
            raise ImageDamagedError(f"its {each['digest']} is not there")
    config = members.document(_blob(told["config"]["digest"]))
    # Neither an image of another machine nor a note on how this one was built.
    if config.get("architecture") == ARCHITECTURES.get(platform.machine()):
        yield told["config"]["digest"], way


def _blob(digest: str) -> str:
    return BLOBS + digest.removeprefix("sha256:")


def _docker(members: _Members) -> Sequence[ArchivedImage]:
    """Return the images of a docker-archive, whose layers are held to what their config names."""
    found = []
    for told in members.document("manifest.json"):
        config = members.document(told["Config"])
        layers = [f"sha256:{members.digests[name]}" for name in told["Layers"]]
        if layers != config["rootfs"]["diff_ids"]:
            raise ImageDamagedError("its layers are not those that its config names")
        image = f"sha256:{members.digests[told['Config']]}"
        found.append(ArchivedImage(image, frozenset({image})))
    return found
