"""Lines out of a stream of bytes, unpacked and bounded: no more of a file is held than one line."""

import codecs
import gzip
import io
import re
import zlib
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, TypeAlias

from service.formats.tools.problem_codes import ProblemCode
from service.formats.tools.tool import Problem

# A file that is open to be read, or anything else behind a buffer.
Stream: TypeAlias = "io.BufferedReader[Any]"

CHUNK_BYTES = 2**20
# Of one object or one line: the details of some thousand requests fit, a file's memory stays small.
MAX_OBJECT_BYTES = 128 * 2**20
GZIP_MAGIC = b"\x1f\x8b"
LFS_POINTER = b"version https://git-lfs"

_OBJECT_BEGINS = re.compile(rb"^\s*[\[{]", re.MULTILINE)
_PACKED = {
    b"PK\x03\x04": "zip archive",
    b"\x28\xb5\x2f\xfd": "zstandard file",
    b"\xfd7zXZ\x00": "xz file",
    b"BZh": "bzip2 file",
}
_TOO_LARGE = (
    f"more than {MAX_OBJECT_BYTES // 2**20} MiB in one object or line: have the tool write its "
    "results without the details of each request"
)


def too_large(line: int) -> Problem:
    """Return the problem of an object or a line over the limit."""
    return Problem(line, ProblemCode.TOO_LARGE, _TOO_LARGE)


def chunks_of(stream: Stream) -> Iterator[bytes | Problem]:
    """Yield a stream's bytes in order, unpacked where it is gzip, without a byte order mark.

    A stream that holds no text at all yields its one problem; one that breaks off yields what came
    before, and then its problem.
    """
    pieces = _unpacked(stream)
    head, ending = b"", None
    for piece in pieces:
        if isinstance(piece, Problem):
            ending = piece
            break
        head += piece
        if len(head) >= CHUNK_BYTES:
            break
    head = head.removeprefix(codecs.BOM_UTF8)
    if (problem := _not_text(head)) is not None:
        yield ending or problem
        return
    yield head
    yield from pieces if ending is None else (ending,)


def lines_of(chunks: Iterable[bytes | Problem]) -> Iterator[bytes | Problem | None]:
    """Yield lines without the byte that ends them; None is a line over the limit, which is let go.

    A problem among the chunks is passed on, after what came before it.
    """
    held: list[bytes] = []
    size = 0
    for chunk in chain(chunks, (None,)):
        if not isinstance(chunk, bytes):
            if size:
                yield b"".join(held) if size <= MAX_OBJECT_BYTES else None
            held, size = [], 0
            if chunk is not None:
                yield chunk
            continue
        first, *others = chunk.split(b"\n")
        size += len(first)
        if size <= MAX_OBJECT_BYTES:
            held.append(first)
        else:
            held.clear()
        if others:
            yield b"".join(held) if size <= MAX_OBJECT_BYTES else None
            yield from others[:-1]
            held, size = [others[-1]], len(others[-1])


def _unpacked(stream: Stream) -> Iterator[bytes | Problem]:
    source: Stream | gzip.GzipFile = stream
    try:
        if stream.peek(len(GZIP_MAGIC)).startswith(GZIP_MAGIC):
            source = gzip.GzipFile(fileobj=stream)
        while chunk := source.read1(CHUNK_BYTES):
            yield chunk
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        message = f"the gzip stream ends early, the file was cut or damaged on its way: {error}"
        yield Problem(None, ProblemCode.DAMAGED_GZIP, message)
    except OSError as error:
        message = f"reading broke off: {error.strerror or error}; what came before is kept"
        yield Problem(None, ProblemCode.READ_FAILED, message)


def _not_text(head: bytes) -> Problem | None:
    if head.startswith(LFS_POINTER):
        message = "a Git LFS pointer: the content was not fetched; `git lfs pull` brings it"
        return Problem(None, ProblemCode.LFS_POINTER, message)
    for magic, what in _PACKED.items():
        if head.startswith(magic):
            message = f"a {what}: unpack it first; only gzip is unpacked here"
            return Problem(None, ProblemCode.PACKED, message)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return Problem(None, ProblemCode.UTF16, "UTF-16 text: save the file as UTF-8")
    if not head.strip():
        return Problem(None, ProblemCode.EMPTY, "the file holds nothing: the tool wrote no result")
    zero = head.find(0)
    if zero >= 0 and not _OBJECT_BEGINS.search(head, 0, zero):
        return Problem(None, ProblemCode.BINARY, "the file holds binary data, not text")
    return None
