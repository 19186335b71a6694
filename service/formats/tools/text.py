"""JSON objects out of a tool's file, good ones kept beside bad ones, every problem with a code."""

import codecs
import gzip
import io
import json
import re
import zlib
from collections.abc import Iterable, Iterator

from service.formats.tools.tool import Document, Found, Problem

GZIP_MAGIC = b"\x1f\x8b"
LFS_POINTER = b"version https://git-lfs"
# Request details and generated texts are large; beyond this a file is something else.
MAX_BYTES = 256 * 2**20
# Objects tried inside one damaged line before the rest of it is given up.
MAX_TRIES = 200
CHUNK_BYTES = 2**20
# A file with more than this many problems is not a result file.
MAX_PROBLEMS = 1000
SHOWN = 60

# At the start of a line, so that neither the inside of a pretty-printed object nor a log's dates in
# brackets are taken for a new one.
_NEXT_OBJECT = re.compile(r"\n(?=\{|\[\s*\{)")
_OBJECT = re.compile(r'\{[ \t\r\n]*"')
_WHITESPACE = re.compile(r"\s*")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_DECODER = json.JSONDecoder()


def objects(data: bytes) -> Iterator[Found[Document] | Problem]:
    """Yield the JSON objects of a file's bytes, and what could not be read, in order.

    One object a line, several on one line, pretty-printed ones and lists of objects are all read;
    gzip, a byte order mark, CRLF, blank lines and NaN or Infinity are taken as they come.
    """
    if data.startswith(LFS_POINTER):
        yield Problem(None, "lfs_pointer", "a Git LFS pointer: the content was not fetched")
        return
    data, damage = _unpacked(data)
    if damage is not None:
        yield damage
    if len(data) > MAX_BYTES:
        yield Problem(None, "too_large", f"more than {MAX_BYTES // 2**20} MiB")
        return
    yield from _bounded(_decoded(data, damaged=damage is not None))


def _bounded(found: Iterable[Found[Document] | Problem]) -> Iterator[Found[Document] | Problem]:
    problems = 0
    for each in found:
        problems += isinstance(each, Problem)
        if problems > MAX_PROBLEMS:
            yield Problem(None, "too_many_problems", f"more than {MAX_PROBLEMS}; the rest is left")
            return
        yield each


def _unpacked(data: bytes) -> tuple[bytes, Problem | None]:
    if not data.startswith(GZIP_MAGIC):
        return data, None
    chunks: list[bytes] = []
    held = 0
    try:
        with gzip.open(io.BytesIO(data)) as stream:
            while held <= MAX_BYTES and (chunk := stream.read1(CHUNK_BYTES)):
                chunks.append(chunk)
                held += len(chunk)
    except (OSError, EOFError, zlib.error) as error:
        return b"".join(chunks), Problem(
            None, "damaged_gzip", f"the gzip stream ends early: {error}"
        )
    return b"".join(chunks), None


def _decoded(data: bytes, *, damaged: bool) -> Iterator[Found[Document] | Problem]:
    data = data.removeprefix(codecs.BOM_UTF8)
    if not data.strip():
        if not damaged:
            yield Problem(None, "empty", "the file holds nothing")
        return
    if b"\0" in data:
        yield Problem(None, "binary", "the file holds binary data, not JSON text")
        return
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        yield Problem(line, "not_utf8", f"a byte that is not UTF-8: {data[error.start]:#04x}")
        text = data.decode(errors="replace")
    yield from _scanned(text)


def _scanned(text: str) -> Iterator[Found[Document] | Problem]:
    position, line = _skip(text, 0), 1
    counted = 0
    while position < len(text):
        line += text.count("\n", counted, position)
        counted = position
        try:
            value, end = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = _end_of_damage(text, position)
            yield _damage(text[position:end], line, at_end=end == len(text))
        else:
            yield from _flattened(value, line)
        position = _skip(text, end)


def _skip(text: str, position: int) -> int:
    found = _WHITESPACE.match(text, position)
    return found.end() if found else position


def _flattened(value: object, line: int) -> Iterator[Found[Document] | Problem]:
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict):
            yield Found(line, item)
        else:
            yield Problem(line, "not_an_object", f"not a JSON object: {json.dumps(item)[:SHOWN]}")


def _end_of_damage(text: str, start: int) -> int:
    following = _NEXT_OBJECT.search(text, start)
    end = following.end() if following else len(text)
    return _object_at_end_of_line(text, start, end)


def _object_at_end_of_line(text: str, start: int, end: int) -> int:
    """Return where a whole object begins that ends the damaged piece, or the piece's end.

    A tool killed while it wrote leaves half a line; the next run appends its object to it.
    """
    for tries, candidate in enumerate(_OBJECT.finditer(text, start + 1, end)):
        if tries >= MAX_TRIES:
            break
        try:
            _, stop = _DECODER.raw_decode(text, candidate.start())
        except (ValueError, RecursionError):
            continue
        if not text[stop:end].strip():
            return candidate.start()
    return end


def _damage(piece: str, line: int, *, at_end: bool) -> Problem:
    bare = _STRING.sub("", piece)
    opened, closed = (sum(map(bare.count, pair)) for pair in ("{[", "}]"))
    unclosed = opened > closed or '"' in bare
    if piece.startswith(("{", "[")) and unclosed:
        where = "the file ends" if at_end else "the object ends"
        return Problem(line, "truncated", f"{where} before its object is whole: {piece[:SHOWN]}")
    return Problem(line, "not_json", f"not JSON: {piece[:SHOWN].splitlines()[0]}")
