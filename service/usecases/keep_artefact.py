"""Keep artefacts: content under its digest, checked before it is believed."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from hashlib import sha256

import zstandard

from service.formats.reports import ARTEFACT_BYTES_MAX, Artefact
from service.store import artefacts
from service.store.artefacts import Content, Files, Held
from service.store.database import ReadSession, WriteSession

# Compressing a text harder than this costs more time than the bytes are worth.
LEVEL = 3
# A body of many small frames would else keep a process busy for minutes.
TOGETHER_BYTES_MAX = 32 * ARTEFACT_BYTES_MAX


class ArtefactUnreadableError(ValueError):
    """What came as compressed content is not."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"the artefact {name} cannot be decompressed: {why}")


class ArtefactTooLargeError(ValueError):
    """Content is larger than an artefact may be."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the artefact {name} is larger than {ARTEFACT_BYTES_MAX} bytes")


class ArtefactsTooLargeError(ValueError):
    """The artefacts of one report are larger than they may be together."""

    def __init__(self) -> None:
        super().__init__(f"the artefacts are larger than {TOGETHER_BYTES_MAX} bytes together")


class DigestMismatchError(ValueError):
    """Content is not what its digest says."""

    def __init__(self, name: str, *, stated: str, computed: str) -> None:
        super().__init__(f"the artefact {name} has the digest {computed}, not {stated}")


def checked(received: Iterable[Artefact]) -> Sequence[Content]:
    """Return the contents of artefacts, each decompressed up to a bound and held to its digest.

    Raises ArtefactUnreadableError, ArtefactTooLargeError, ArtefactsTooLargeError and
    DigestMismatchError.
    """
    contents: list[Content] = []
    size_bytes = 0
    for artefact in received:
        contents.append(_checked(artefact))
        size_bytes += contents[-1].size_bytes
        if size_bytes > TOGETHER_BYTES_MAX:
            raise ArtefactsTooLargeError
    return contents


def held(received: Iterable[Artefact]) -> Sequence[Held]:
    """Return artefacts as what a run or launch holds."""
    return [Held(artefact.name, artefact.digest, artefact.media_type) for artefact in received]


def keep_artefact(
    session: WriteSession, files: Files, *, digest: str, content: bytes, now: datetime
) -> bool:
    """Store plain bytes under their digest and return whether they were new.

    Raises ArtefactTooLargeError and DigestMismatchError.
    """
    if len(content) > ARTEFACT_BYTES_MAX:
        raise ArtefactTooLargeError(digest)
    _require_digest(digest, content, digest)
    if artefacts.stored(session, [digest]):
        return False
    zstd = zstandard.ZstdCompressor(level=LEVEL).compress(content)
    artefacts.keep(session, files, [Content(digest, len(content), zstd)], now=now)
    return True


def read_artefact(session: ReadSession, files: Files, *, digest: str) -> bytes:
    """Return the plain bytes of a digest.

    Raises UnknownArtefactError and ArtefactFileMissingError.
    """
    return _decompressed(digest, artefacts.read(session, files, digest).zstd)


def _checked(artefact: Artefact) -> Content:
    content = _decompressed(artefact.name, artefact.zstd)
    _require_digest(artefact.name, content, artefact.digest)
    return Content(artefact.digest, len(content), artefact.zstd)


def _decompressed(name: str, zstd: bytes) -> bytes:
    """Decompress no further than the bound, whatever the frame says of itself."""
    unpacking = zstandard.ZstdDecompressor(max_window_size=ARTEFACT_BYTES_MAX)
    try:
        stated = zstandard.frame_content_size(zstd)
        if stated > ARTEFACT_BYTES_MAX:
            raise ArtefactTooLargeError(name)
        if stated >= 0:
            return unpacking.decompress(zstd, max_output_size=ARTEFACT_BYTES_MAX)
        with unpacking.stream_reader(zstd) as reader:
            content = reader.read(ARTEFACT_BYTES_MAX + 1)
    except zstandard.ZstdError as error:
        raise ArtefactUnreadableError(name, str(error)) from error
    if len(content) > ARTEFACT_BYTES_MAX:
        raise ArtefactTooLargeError(name)
    return content


def _require_digest(name: str, content: bytes, stated: str) -> None:
    computed = sha256(content).hexdigest()
    if computed != stated:
        raise DigestMismatchError(name, stated=stated, computed=computed)
