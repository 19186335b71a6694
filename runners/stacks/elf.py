"""Programs and libraries as files: which C library they need, and where they look for others."""

import re
import struct
from collections.abc import Iterator
from mmap import ACCESS_READ, mmap
from pathlib import Path

MAGIC = b"\x7fELF"
OLDEST = "2.17"
# What is asked of which library stands in a table that the loader itself reads: its place is told
# by the file's dynamic section, whose entries are numbered so by the ABI (gABI, LSB Core).
_LITTLE_64 = b"\x02\x01"
_LOADED, _DYNAMIC = 1, 2
_LIBRARY, _STRINGS, _NEEDED_VERSIONS = 1, 5, 0x6FFFFFFE
_WEAK = 2
_TABLE_MAX = 10_000
_NAMED = re.compile(rb"\bGLIBC_2\.(\d{1,3})\b")
_BESIDE = b"$ORIGIN/../lib"


class RunPathError(ValueError):
    """A program cannot be told to look for its libraries beside itself."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} looks for its libraries in a place of this host that is too short a name to "
            "be replaced: give a relocatable Python with --python"
        )


def needed_glibc(path: Path) -> str:
    """Return the oldest C library that a file runs on, by the versions that it asks for.

    A file that is no ELF, or asks for none, runs on any: '2.17', the oldest that is asked for.
    """
    with path.open("rb") as stream:
        if stream.read(len(MAGIC)) != MAGIC:
            return OLDEST
        with mmap(stream.fileno(), 0, access=ACCESS_READ) as content:
            minors = _minors(content)
    return newest([OLDEST, *(f"2.{minor}" for minor in minors)])


def needed_libraries(path: Path) -> frozenset[str]:
    """Return the libraries that a file asks its loader for; none where that cannot be read."""
    with path.open("rb") as stream:
        if stream.read(len(MAGIC)) != MAGIC:
            return frozenset()
        with mmap(stream.fileno(), 0, access=ACCESS_READ) as content:
            try:
                return frozenset(_libraries(content))
            except (struct.error, ValueError, KeyError, IndexError):
                return frozenset()


def newest(versions: list[str]) -> str:
    """Return the newest of some versions such as '2.28'."""
    return max(versions, key=lambda each: int(each.split(".")[1]))


def looking_beside(path: Path, folder: Path) -> None:
    """Let a program that looks for libraries in a folder of this host look beside itself instead.

    The name is replaced in place, which takes one that is no shorter. Raises RunPathError.
    """
    content, old = path.read_bytes(), str(folder).encode() + b"\0"
    if not content.startswith(MAGIC) or old not in content:
        return
    if len(old) <= len(_BESIDE):
        raise RunPathError(path)
    path.write_bytes(content.replace(old, _BESIDE.ljust(len(old), b"\0")))


def _minors(content: mmap) -> list[int]:
    """Return the minor versions of glibc that a file asks for, as its loader would read them.

    Of a file whose tables cannot be read, those that it names anywhere, which may be too many.
    """
    try:
        asked = list(_asked(content))
    except (struct.error, ValueError, KeyError, IndexError):
        return [int(found) for found in _NAMED.findall(content)]
    return [int(found[1]) for name in asked if (found := _NAMED.fullmatch(name))]


def _asked(content: mmap) -> Iterator[bytes]:
    """Yield the names of all versions that must be there. Raises ValueError for another format."""
    segments = _segments(content)
    told = dict(_dynamic(content, segments))
    if _NEEDED_VERSIONS not in told:
        return
    strings = _place(told[_STRINGS], segments)
    at = _place(told[_NEEDED_VERSIONS], segments)
    for _ in range(_TABLE_MAX):
        _, count, _, first, step = struct.unpack_from("<HHIII", content, at)
        below = at + first
        for _ in range(count):
            _, flags, _, name, further = struct.unpack_from("<IHHII", content, below)
            if not flags & _WEAK:
                yield _text(content, strings + name)
            below += further
        if not step:
            return
        at += step


def _libraries(content: mmap) -> Iterator[str]:
    """Yield the names of all libraries that must be there. Raises ValueError for another format."""
    segments = _segments(content)
    told = list(_dynamic(content, segments))
    if not told:
        return
    strings = _place(dict(told)[_STRINGS], segments)
    for tag, value in told:
        if tag == _LIBRARY:
            yield _text(content, strings + value).decode()


def _text(content: mmap, begin: int) -> bytes:
    return content[begin : content.find(b"\0", begin)]


def _segments(content: mmap) -> list[tuple[int, int, int, int]]:
    """Return kind, place in the file, address and size of each program header.

    Raises ValueError for another format.
    """
    if content[4:6] != _LITTLE_64:
        raise ValueError("not a 64-bit little-endian file")
    (begin,) = struct.unpack_from("<Q", content, 0x20)
    size, count = struct.unpack_from("<HH", content, 0x36)
    found = []
    for number in range(count):
        at = begin + number * size
        kind, _, place, address, _, length = struct.unpack_from("<IIQQQQ", content, at)
        found.append((kind, place, address, length))
    return found


def _dynamic(content: mmap, segments: list[tuple[int, int, int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the tags and values of the dynamic section; none in a static program."""
    for kind, place, _, length in segments:
        if kind == _DYNAMIC:
            for at in range(place, place + length, 16):
                tag, value = struct.unpack_from("<QQ", content, at)
                if tag == 0:
                    return
                yield tag, value


def _place(address: int, segments: list[tuple[int, int, int, int]]) -> int:
    """Return where in the file an address is loaded from. Raises ValueError."""
    for kind, place, begin, length in segments:
        if kind == _LOADED and begin <= address < begin + length:
            return place + address - begin
    raise ValueError("an address outside of the file")
