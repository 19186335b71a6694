"""Prints what this Python would serve with, component by component, as one line of JSON.

Run by path with a measured environment's Python and never installed there, so: the standard
library alone, in the syntax of Python 3.8. argv: '--import NAME' imports a module first (it loads
a chip's libraries); '--pid N' reads the libraries of that process instead of this one's.
Nothing is imported without being named, for an import of this stack may touch the cards.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import importlib
import importlib.util
import json
import os
import platform
import re
import signal
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

PR_SET_PDEATHSIG = 1
GROUPS = ("sglang.srt.platforms", "sglang.srt.plugins")
KERNELS = (
    "kunlun-ops",
    "xspeedgate-ops",
    "cocopod",
    "xtorch-ops",
    "deep-ep",
    "xmooncake",
    "sgl-kernel",
    "sglang-kernel",
)
# The vendor's libraries whose content says more than their names.
LIBRARIES = re.compile(
    r"lib(?:bkcl|xpurt|cudart|xpucuda|cuda|XMLIRRuntime|xpuapi|xpu_blas|xpu_dnn"
    r"|xpu_flash_attention|apiinfer|innerinfer|xops_blocks|torch_cpu)\.so[\w.]*"
)
LEFT_BEHIND = {"__pycache__", ".git", ".mypy_cache", ".ruff_cache"}
MOST_FILES = 20000
PIECE = 2**20
SAID = re.compile(r"\s*['\"]?([A-Za-z_]+)['\"]?\s*[:=]\s*['\"]?([^'\",\s]+)")


def main() -> None:
    """Print every fact there is; what cannot be found is not in it."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    parser = argparse.ArgumentParser()
    parser.add_argument("--import", dest="imports", action="append", default=[])
    parser.add_argument("--pid", type=int)
    asked = parser.parse_args()
    sys.path.pop(0)  # the folder of this script, which is no part of what is measured
    out, sys.stdout = sys.stdout, sys.stderr  # what an import prints is no part of the answer
    failed = imported(asked.imports)
    every = list(distributions())
    points = entry_points(every)
    plugins = sorted({name for name, _, _, _ in points})
    facts = {
        "python": platform.python_version(),
        "glibc": platform.libc_ver()[1],
        "versions": {name: found.version for name, found in every},
        "entry_points": [
            {"distribution": name, "group": group, "name": point, "value": value}
            for name, group, point, value in points
        ],
        "plugins": {name: content(found) for name, found in every if name in plugins},
        "kernels": {name: binaries(found) for name, found in every if name in KERNELS},
        "origins": {name: origin(name) for name in ("sglang", "sglang_kunlun", "torch_xmlir")},
        "xmlir": xmlir(),
        "libraries": libraries(asked.pid),
        "failed": failed,
    }
    json.dump(facts, out)


def imported(names: list[str]) -> dict[str, str]:
    """Import modules, and return what went wrong with those that could not be."""
    failed = {}
    for name in names:
        try:
            importlib.import_module(name)
        except BaseException as error:  # noqa: BLE001 — a vendor's import may raise anything
            failed[name] = f"{type(error).__name__}: {error}"[:400]
    return failed


def distributions() -> Iterator[tuple[str, Any]]:
    """Yield each distribution once, by its settled name; the first on the path counts."""
    seen = set()
    for found in metadata.distributions():
        name = found.metadata["Name"]
        settled = re.sub(r"[-_.]+", "-", name).lower() if name else ""
        if settled and settled not in seen:
            seen.add(settled)
            yield settled, found


def entry_points(every: list[tuple[str, Any]]) -> list[tuple[str, str, str, str]]:
    """Return the entry points that SGLang loads plugins from, with who brings each."""
    return sorted(
        (name, point.group, point.name, point.value)
        for name, found in every
        for point in found.entry_points
        if point.group in GROUPS
    )


def content(found: Any) -> dict[str, str | None]:
    """Return what tells one build of a plugin from the next: its commit, and its tree's digest."""
    folder = checkout(found)
    url = direct_url(found)
    commit = (url.get("vcs_info") or {}).get("commit_id")
    if folder is not None:
        return {"commit": commit or head(folder), "tree": tree(files_below(folder), folder)}
    names = [path for path in (found.files or ()) if path.suffix in {".py", ".so", ".json"}]
    root = Path(str(found.locate_file("")))
    return {"commit": commit, "tree": tree([root / str(path) for path in names], root)}


def direct_url(found: Any) -> dict[str, Any]:
    """Return where a distribution was installed from, as pip wrote it down."""
    try:
        told = json.loads(found.read_text("direct_url.json") or "{}")
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def checkout(found: Any) -> Path | None:
    """Return the folder of an editable install, or None."""
    told = direct_url(found)
    if not (told.get("dir_info") or {}).get("editable"):
        return None
    folder = Path(unquote(urlsplit(str(told.get("url", ""))).path))
    return folder if folder.is_dir() else None


def head(folder: Path) -> str | None:
    """Return the commit that a checkout is at, read from its files; None where there is none."""
    for place in (folder, *folder.parents):
        git = place / ".git"
        if not git.is_dir():
            continue
        text = read(git / "HEAD")
        if not text.startswith("ref: "):
            return text or None
        name = text[len("ref: ") :]
        direct = read(git / name)
        if direct:
            return direct
        for line in read(git / "packed-refs").splitlines():
            commit, _, ref = line.partition(" ")
            if ref == name:
                return commit
        return None
    return None


def read(path: Path) -> str:
    """Return a file's text without its edges; nothing where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def files_below(folder: Path) -> list[Path]:
    """Return the sources below a folder."""
    found = []
    for path in folder.rglob("*.py"):
        if not LEFT_BEHIND.intersection(path.parts):
            found.append(path)
        if len(found) >= MOST_FILES:
            break
    return found


def tree(paths: list[Path], root: Path) -> str | None:
    """Return the SHA-256 over files, each by its place below a folder and its content."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        one = file_digest(path)
        if one is None:
            return None
        digest.update(f"{os.path.relpath(str(path), str(root))}\0{one}\n".encode())
    return digest.hexdigest() if paths else None


def binaries(found: Any) -> str | None:
    """Return one SHA-256 over the shared libraries that a distribution brings."""
    root = Path(str(found.locate_file("")))
    names = [root / str(path) for path in (found.files or ()) if ".so" in path.name]
    return tree(names, root)


def file_digest(path: Path) -> str | None:
    """Return the SHA-256 of a file; None where it cannot be read."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as stream:
            for piece in iter(lambda: stream.read(PIECE), b""):
                digest.update(piece)
    except OSError:
        return None
    return digest.hexdigest()


def origin(name: str) -> str | None:
    """Return the file that a package would be imported from, without importing it."""
    try:
        found = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return None
    return found.origin if found is not None else None


def xmlir() -> dict[str, str]:
    """Return the vendor's version dict: of the imported module, else of the file behind it."""
    module = sys.modules.get("torch_xmlir")
    told = getattr(module, "__version__", None)
    if isinstance(told, dict):
        return {str(key): str(value) for key, value in told.items()}
    place = origin("torch_xmlir")
    text = read(Path(place).parent / "_versions.txt") if place else ""
    pairs = (SAID.match(line) for line in text.splitlines())
    return {match.group(1): match.group(2) for match in pairs if match}


def libraries(pid: int | None) -> dict[str, dict[str, str]]:
    """Return the vendor's libraries that a process has mapped: their places and digests."""
    found = {}
    for line in read(Path("/proc/{}/maps".format(pid or "self"))).splitlines():
        place = line.partition("/")[2]
        path = Path("/" + place)
        if place and LIBRARIES.fullmatch(path.name) and str(path) not in found:
            digest = file_digest(path)
            found[str(path)] = {"name": path.name, "sha256": digest or "unknown(permission)"}
    return found


if __name__ == "__main__":
    main()
