"""Looks up in the libraries around them all symbols and operators that kernel packages need.

Run by path with a measured environment's Python; standard library alone, Python 3.8 syntax.
argv: a search path for modules, one for libraries (os.pathsep between folders, may be empty), then
names of distributions. No library is loaded and no card is needed: ELF headers are read (System V
ABI, chapters 4 and 5). Prints one JSON line, as plugin_targets.py does; a file has no lines: 0.
"""

from __future__ import annotations

import ast
import ctypes
import json
import os
import re
import signal
import struct
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG = 1
LIBRARY = re.compile(r"\.so(\.[\w.]+)?$")
SYSTEM = ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/usr/lib")
# Whatever a process imports first lends its libraries to all that come later.
LENDERS = ("torch/lib", "torch_xmlir", "nvidia", "torch.libs")
OWN_OPERATORS = frozenset({"aten", "prim", "prims", "c10d", "c10d_functional", "_c10d_functional"})
# A compiler keeps texts as short as this within its code, where nobody finds them.
INLINE_MAX = 15
SYMBOLS_SHOWN = 5
FILES_MAX = 5000
# How an operator's name stands in a library: before its schema, its overload, or its text's end.
SCHEMA = re.compile(rb"([A-Za-z_]\w{1,200})(?=[(.\0])")
REGISTERED = re.compile(rb"::([A-Za-z_]\w*)")
ELF64_LITTLE = b"\x7fELF\x02\x01"
SHT_DYNAMIC, SHT_DYNSYM = 6, 11
DT_NEEDED, DT_RPATH, DT_RUNPATH = 1, 15, 29
GLOBAL, UNIQUE = 1, 10


class Library:
    """What an ELF file needs and offers. Raises ValueError for any other file."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.needed: list[str] = []
        self.search: list[str] = []
        self.wanted: set[str] = set()
        self.offered: set[str] = set()
        content = file.read_bytes()
        if content[:6] != ELF64_LITTLE:
            raise ValueError("no 64-bit little-endian ELF file")
        try:
            self._read(content)
        except (struct.error, IndexError) as error:
            raise ValueError(f"its ELF headers are damaged: {error}") from error

    def _read(self, content: bytes) -> None:
        (offset,) = struct.unpack_from("<Q", content, 40)
        size, count = struct.unpack_from("<HH", content, 58)
        sections = [
            struct.unpack_from("<IIQQQQIIQQ", content, offset + size * number)
            for number in range(count)
        ]
        for section in sections:
            kind, start, length = section[1], section[4], section[5]
            if kind in (SHT_DYNAMIC, SHT_DYNSYM):
                texts = sections[section[6]][4]
                read = self._dynamic if kind == SHT_DYNAMIC else self._symbols
                read(content, range(start, start + length), texts)

    def _dynamic(self, content: bytes, places: range, texts: int) -> None:
        for place in places[::16]:
            tag, value = struct.unpack_from("<QQ", content, place)
            if tag == DT_NEEDED:
                self.needed.append(text(content, texts + value))
            elif tag in (DT_RPATH, DT_RUNPATH):
                here = str(self.file.resolve().parent)
                path = text(content, texts + value).replace("${ORIGIN}", here)
                self.search += path.replace("$ORIGIN", here).split(":")

    def _symbols(self, content: bytes, places: range, texts: int) -> None:
        table = content[places.start + 24 : places.stop]
        for name, kind, _, section, _, _ in struct.iter_unpack("<IBBHQQ", table):
            word = text(content, texts + name)
            if section:
                self.offered.add(word)
            elif kind >> 4 in (GLOBAL, UNIQUE):
                self.wanted.add(word)


class Shelf:
    """Libraries by the name they are needed under, each read once."""

    def __init__(self, folders: list[str]) -> None:
        self.folders = folders
        self.read: dict[str, Library | None] = {}

    def find(self, name: str, search: list[str]) -> Library | None:
        """Return a library as the loader would find it; None where it would not."""
        for folder in search + self.folders:
            path = str(Path(folder, name))
            if path not in self.read:
                self.read[path] = opened(Path(path))
            if self.read[path] is not None:
                return self.read[path]
        return None

    def closure(self, library: Library) -> tuple[set[str], list[str]]:
        """Return the symbols that a library's needs offer, and those needs that are not there."""
        offered, missing = set(), []
        queue, seen = [(name, library.search) for name in library.needed], set()
        while queue:
            name, search = queue.pop()
            if name in seen:
                continue
            seen.add(name)
            found = self.find(name, search)
            if found is None:
                missing.append(name)
                continue
            offered.update(found.offered)
            queue += [(each, found.search + search) for each in found.needed]
        return offered, missing


def main() -> int:
    """Read the packages' libraries and print what they would not find."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    modules = [folder for folder in sys.argv[1].split(os.pathsep) + sys.path if folder]
    paths = [folder for folder in sys.argv[2].split(os.pathsep) if folder]
    told: dict[str, Any] = {"resolved": 0, "unresolved": [], "unreadable": []}
    files = [file for name in sys.argv[3:] for file in files_of(name, modules)]
    libraries = [library for library in map(opened, filter(is_library, files)) if library]
    own = sorted({str(library.file.parent) for library in libraries})
    shelf = Shelf(own + paths + lenders(modules) + list(SYSTEM))
    around = set().union(*(library.offered for library in libraries)) | of_the_process(shelf)
    for library in libraries:
        look_up(library, shelf, around, told)
    operators([file for file in files if file.suffix == ".py"], libraries, told)
    sys.stdout.write(json.dumps(told) + "\n")
    return 0


def look_up(library: Library, shelf: Shelf, around: set[str], told: dict[str, Any]) -> None:
    """Tell what one library needs and does not get."""
    offered, missing = shelf.closure(library)
    for name in missing:
        told["unresolved"].append(line(library.file, name, "a library that is nowhere"))
    without = sorted(library.wanted - offered - around)
    told["resolved"] += len(library.wanted) - len(without)
    where = told["unreadable"] if missing else told["unresolved"]
    for name in without[:SYMBOLS_SHOWN]:
        many = f" ({len(without)} such symbols)" if len(without) > SYMBOLS_SHOWN else ""
        where.append(line(library.file, name, f"undefined symbol{many}"))


def operators(files: list[Path], libraries: list[Library], told: dict[str, Any]) -> None:
    """Tell of the operators that Python code calls and that no library and no code registers."""
    code = {file: file.read_bytes() for file in files}
    calls = {file: list(called(source)) for file, source in code.items() if b"torch.ops." in source}
    if not any(calls.values()):
        return
    kept = {word for each in libraries for word in SCHEMA.findall(each.file.read_bytes())}
    kept.update(word for source in code.values() for word in REGISTERED.findall(source))
    spaces = {re.sub(r"[-.]+", "_", package) for package in sys.argv[3:]}
    for file, found in calls.items():
        for space, name, number in found:
            # A linker keeps a text within another that ends as it does.
            if any(word.endswith(name.encode()) for word in kept):
                told["resolved"] += 1
            else:
                judged = space in spaces and len(name) > INLINE_MAX
                where = told["unresolved" if judged else "unreadable"]
                words = "no library beside it registers this operator"
                where.append(line(file, f"{space}::{name}", words, number))


def called(source: bytes) -> Iterator[tuple[str, str, int]]:
    """Return the operators of other people's that code calls as torch.ops.space.name."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        inner = getattr(node, "value", None)
        outer = getattr(inner, "value", None)
        if (
            isinstance(node, ast.Attribute)
            and isinstance(inner, ast.Attribute)
            and isinstance(outer, ast.Attribute)
            and outer.attr == "ops"
            and getattr(outer.value, "id", "") == "torch"
            and inner.attr not in OWN_OPERATORS
        ):
            yield inner.attr, node.attr, node.lineno


def files_of(distribution: str, modules: list[str]) -> list[Path]:
    """Return the files of a distribution; of a folder of its name where it is not installed."""
    try:
        there = metadata.distribution(distribution)
    except metadata.PackageNotFoundError:
        return in_folder(re.sub(r"[-.]+", "_", distribution), modules)
    found = [Path(str(there.locate_file(file))) for file in there.files or ()]
    if not any(is_library(file) or file.suffix == ".py" for file in found):
        tops = (there.read_text("top_level.txt") or "").split()
        found = [file for top in tops for file in in_folder(top, modules)]
    return [file for file in found if file.is_file()][:FILES_MAX]


def in_folder(name: str, modules: list[str]) -> list[Path]:
    """Return the files of the first folder of a name."""
    for module in modules:
        if Path(module, name).is_dir():
            return sorted(Path(module, name).rglob("*"))[:FILES_MAX]
    return []


def is_library(file: Path) -> bool:
    """Return whether a file is called as libraries are."""
    return LIBRARY.search(file.name) is not None


def opened(file: Path) -> Library | None:
    """Return a library; None for what is none or cannot be read."""
    try:
        return Library(file) if file.is_file() else None
    except (OSError, ValueError):
        return None


def lenders(modules: list[str]) -> list[str]:
    """Return the folders whose libraries torch has loaded before anything else."""
    found = []
    for module in modules:
        for name in LENDERS:
            folder = Path(module, name)
            if folder.is_dir():
                found += sorted({str(file.parent) for file in folder.rglob("*.so*")})
    return found


def of_the_process(shelf: Shelf) -> set[str]:
    """Return the symbols of the interpreter, of its own library, and of torch."""
    names = ["libtorch_python.so", "libtorch.so", "libtorch_cpu.so", "libc10.so"]
    found = [shelf.find(name, []) for name in names] + [opened(Path(sys.executable).resolve())]
    offered = set()
    for library in found:
        if library is not None:
            offered |= library.offered | shelf.closure(library)[0]
    return offered


def text(content: bytes, start: int) -> str:
    """Return the text that begins somewhere and ends with a zero."""
    return content[start : content.index(b"\0", start)].decode("utf-8", "replace")


def line(file: Path, target: str, why: str, number: int = 0) -> dict[str, Any]:
    """Return one thing that was not found, as it is printed."""
    return {"file": str(file), "line": number, "target": target, "why": why}


if __name__ == "__main__":
    sys.exit(main())
