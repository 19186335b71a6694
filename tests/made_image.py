"""Archives of small images for tests, written by hand in both layouts that engines save."""

import io
import json
import tarfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from runners.stacks.image_archive import ARCHITECTURES

ARCHITECTURE = ARCHITECTURES["x86_64"]


def digest_of(content: bytes) -> str:
    """Return a digest as images are named by it."""
    return f"sha256:{sha256(content).hexdigest()}"


def oci_archive(path: Path, *, layer: bytes = b"layer", architecture: str = ARCHITECTURE) -> str:
    """Write an oci-archive of one image and return its manifest's digest."""
    config = _config(layer, architecture)
    manifest = json.dumps(
        {
            "config": {"digest": digest_of(config)},
            "layers": [{"digest": digest_of(layer)}],
        }
    ).encode()
    index = json.dumps({"manifests": [{"digest": digest_of(manifest)}]}).encode()
    blobs = {_blob(digest_of(each)): each for each in (config, manifest, layer)}
    _tar(path, {"index.json": index, **blobs})
    return digest_of(manifest)


def docker_archive(path: Path, *, layer: bytes = b"layer", kept: bytes | None = None) -> str:
    """Write a docker-archive of one image and return its id. kept: what stands in for its layer."""
    config = _config(layer, ARCHITECTURE)
    manifest = json.dumps([{"Config": "config.json", "Layers": ["one/layer.tar"]}]).encode()
    files = {"manifest.json": manifest, "config.json": config, "one/layer.tar": kept or layer}
    _tar(path, files)
    return digest_of(config)


def image_id(layer: bytes = b"layer") -> str:
    """Return the id of the image with this layer, in either layout."""
    return digest_of(_config(layer, ARCHITECTURE))


def _config(layer: bytes, architecture: str) -> bytes:
    told = {"architecture": architecture, "rootfs": {"diff_ids": [digest_of(layer)]}}
    return json.dumps(told).encode()


def _blob(digest: str) -> str:
    return f"blobs/sha256/{digest.removeprefix('sha256:')}"


def _tar(path: Path, files: Mapping[str, bytes]) -> None:
    with tarfile.open(path, "w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
