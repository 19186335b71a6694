"""Artefacts: content under its digest, small ones in their row and large ones in files."""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol
from uuid import UUID, uuid4

from fsspec.core import url_to_fs
from sqlalchemy import select

from service.store.database import ReadSession, WriteSession
from service.store.inserts import insert_absent
from service.store.tables import ArtefactRow, HeldArtefactRow

# A tool's text compresses to a few kB. In the row it costs no file, no directory entry and no
# second fsync, and it is committed with its run.
ROW_BYTES_MAX = 64 * 1024


@dataclass(frozen=True, slots=True)
class Content:
    """Compressed bytes under the digest of what they decompress to, and its size."""

    digest: str
    size_bytes: int
    zstd: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Held:
    """An artefact as a run or launch holds it."""

    name: str
    digest: str
    media_type: str


@dataclass(frozen=True, slots=True)
class HeldContent(Held):
    """An artefact of a run or launch, and how large it is."""

    size_bytes: int


class UnknownArtefactError(LookupError):
    """No artefact is stored under that digest."""

    def __init__(self, digest: str) -> None:
        super().__init__(f"no artefact {digest}")


class ArtefactFileMissingError(LookupError):
    """An artefact is stored, and the file that holds its content is not there."""

    def __init__(self, digest: str) -> None:
        super().__init__(f"the file of artefact {digest} is not in the data folder any more")


class Files(Protocol):
    """Where large artefacts lie."""

    def write(self, name: str, content: bytes) -> None:
        """Store bytes under a name, so that they outlive a power cut, or not at all."""

    def read(self, name: str) -> bytes:
        """Return the bytes under a name. Raises FileNotFoundError."""


class ArtefactFiles:
    """Files below one directory, or below any other place that fsspec has a word for."""

    def __init__(self, place: str) -> None:
        self._system, self._root = url_to_fs(place)
        self._local = "file" in _words(self._system.protocol)

    def write(self, name: str, content: bytes) -> None:
        """Write beside the final name, flush to the disk, then rename: never half a file."""
        final = self._path(name)
        if self._system.exists(final):
            return
        self._system.makedirs(final.rpartition("/")[0], exist_ok=True)
        fresh = f"{final}.{uuid4().hex}.part"
        with self._system.open(fresh, "wb") as file:
            file.write(content)
            if self._local:
                file.flush()
                os.fsync(file.fileno())
        self._system.mv(fresh, final)
        if self._local:
            _flush_directory(Path(final).parent)

    def read(self, name: str) -> bytes:
        """Return the bytes under a name. Raises FileNotFoundError."""
        return bytes(self._system.cat_file(self._path(name)))

    def _path(self, name: str) -> str:
        return f"{self._root}/{name[:2]}/{name}.zst"


def keep(
    session: WriteSession, files: Files, contents: Sequence[Content], *, now: datetime
) -> None:
    """Store contents that are not stored yet; a large one is on the disk before its row is."""
    write_large(files, contents)
    rows = [
        {
            "digest": content.digest,
            "size_bytes": content.size_bytes,
            "zstd": in_row(content),
            "stored_at": now,
        }
        for content in contents
    ]
    # In one order for all writers, so that two reports with the same texts never wait in a ring.
    insert_absent(session, ArtefactRow, sorted(rows, key=lambda row: str(row["digest"])))


def write_large(files: Files, contents: Sequence[Content]) -> None:
    """Write contents that are too large for a row to the disk."""
    for content in contents:
        if in_row(content) is None:
            files.write(content.digest, content.zstd)


def in_row(content: Content) -> bytes | None:
    """Return the compressed bytes that a content's row holds; None where a file does."""
    return content.zstd if len(content.zstd) <= ROW_BYTES_MAX else None


def hold(session: WriteSession, holder_id: UUID, held: Sequence[Held]) -> None:
    """Say which artefacts a run or launch has; a name it already has stays as it is."""
    hold_all(session, {holder_id: held})


def hold_all(session: WriteSession, held: Mapping[UUID, Sequence[Held]]) -> None:
    """Say which artefacts many runs or launches have, in one call."""
    rows = [
        {"holder_id": holder_id, **told(artefact)}
        for holder_id, artefacts in held.items()
        for artefact in artefacts
    ]
    insert_absent(session, HeldArtefactRow, rows)


def told(held: Held) -> dict[str, str]:
    """Return what a run or launch says of an artefact."""
    return {"name": held.name, "digest": held.digest, "media_type": held.media_type}


def read(session: ReadSession, files: Files, digest: str) -> Content:
    """Return the content of a digest, compressed.

    Raises UnknownArtefactError and ArtefactFileMissingError.
    """
    row = session.execute(
        select(ArtefactRow.size_bytes, ArtefactRow.zstd).where(ArtefactRow.digest == digest)
    ).one_or_none()
    if row is None:
        raise UnknownArtefactError(digest)
    zstd = _in_file(files, digest) if row.zstd is None else row.zstd
    return Content(digest, row.size_bytes, zstd)


def _in_file(files: Files, digest: str) -> bytes:
    try:
        return files.read(digest)
    except FileNotFoundError as error:
        raise ArtefactFileMissingError(digest) from error


def stored(session: ReadSession, digests: Collection[str]) -> frozenset[str]:
    """Return those of some digests that are stored."""
    rows = session.scalars(select(ArtefactRow.digest).where(ArtefactRow.digest.in_(digests)))
    return frozenset(rows)


def of_holders(
    session: ReadSession, holder_ids: Collection[UUID]
) -> Mapping[UUID, Sequence[HeldContent]]:
    """Return what some runs or launches hold, by name."""
    rows = session.execute(
        select(
            HeldArtefactRow.holder_id,
            HeldArtefactRow.name,
            HeldArtefactRow.digest,
            HeldArtefactRow.media_type,
            ArtefactRow.size_bytes,
        )
        .join(ArtefactRow, ArtefactRow.digest == HeldArtefactRow.digest)
        .where(HeldArtefactRow.holder_id.in_(holder_ids))
        .order_by(HeldArtefactRow.name)
    )
    found: dict[UUID, list[HeldContent]] = {holder_id: [] for holder_id in holder_ids}
    for row in rows:
        held = HeldContent(row.name, row.digest, row.media_type, row.size_bytes)
        found[row.holder_id].append(held)
    return found


def _words(protocol: str | Sequence[str]) -> tuple[str, ...]:
    return (protocol,) if isinstance(protocol, str) else tuple(protocol)


def _flush_directory(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
