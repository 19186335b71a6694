"""Hashed lock files: exact pins by package, and the bytes they are uploaded as."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from packaging.markers import Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from service.formats.yaml_file import FileProblem, FileProblemsError

MAX_LOCK_BYTES = 4 * 1024 * 1024
_HASH = re.compile(r"\s--hash=sha256:[0-9a-f]{64}(?=\s|$)")
# Environments are built on Linux x86-64 by one of these; which one is known on the host alone.
_PYTHONS = ("3.11", "3.12", "3.13")


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock: its bytes, their SHA-256, and the version of each package it installs.

    sometimes: packages that only some of the supported Python releases install.
    """

    shown: str
    content: bytes
    digest: str
    pins: Mapping[str, str]
    sometimes: frozenset[str]


def read_lock(path: Path) -> Lock:
    """Return a lock of hashed requirements. Raises FileProblemsError with all that is wrong."""
    shown = str(path)
    content = _content(path, shown)
    pins: dict[str, str] = {}
    sometimes: set[str] = set()
    problems: list[FileProblem] = []
    for line, text in _logical_lines(content.decode("utf-8", errors="replace")):
        try:
            pin = _pin(text)
        except ValueError as error:
            problems.append(FileProblem(shown, line, "", str(error)))
            continue
        share = _share(pin.marker)
        name = canonicalize_name(pin.name)
        if share and name in pins:
            problems.append(
                FileProblem(shown, line, name, "pinned twice: a stack has one version of each")
            )
        if share:
            pins[name] = next(iter(pin.specifier)).version
        if 0 < share < len(_PYTHONS):
            sometimes.add(name)
    if problems:
        raise FileProblemsError(problems)
    return Lock(shown, content, sha256(content).hexdigest(), pins, frozenset(sometimes))


def mixed_lock(good: Lock, bad: Lock, names: Collection[str]) -> Lock:
    """Return one lock with the packages of these names as another lock pins them, or has not.

    names: canonical. Lines are taken whole, hashes with them; comments are left out.
    """
    kept = [
        text
        for lock, takes in ((good, False), (bad, True))
        for _, text in _logical_lines(lock.content.decode("utf-8", errors="replace"))
        if (canonicalize_name(_pin(text).name) in names) is takes
    ]
    content = "\n".join([*sorted(kept), ""]).encode()
    pins = {name: version for name, version in good.pins.items() if name not in names}
    taken = {name: version for name, version in bad.pins.items() if name in names}
    sometimes = (good.sometimes - set(names)) | (bad.sometimes & set(names))
    shown = f"{good.shown} with {', '.join(sorted(names))} of {bad.shown}"
    return Lock(shown, content, sha256(content).hexdigest(), {**pins, **taken}, sometimes)


def _content(path: Path, shown: str) -> bytes:
    try:
        with path.open("rb") as stream:
            content = stream.read(MAX_LOCK_BYTES + 1)
    except OSError as error:
        problem = FileProblem(shown, 1, "", f"cannot be read: {error.strerror}")
        raise FileProblemsError([problem]) from error
    if len(content) > MAX_LOCK_BYTES:
        problem = FileProblem(shown, 1, "", f"larger than {MAX_LOCK_BYTES // 1024**2} MiB")
        raise FileProblemsError([problem])
    return content


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    pending, begun = "", 1
    for number, line in enumerate(text.splitlines(), start=1):
        bare = re.sub(r"(^|\s)#.*$", "", line)
        if not pending:
            begun = number
        if bare.endswith("\\"):
            pending += bare[:-1] + " "
            continue
        if whole := (pending + bare).strip():
            yield begun, whole
        pending = ""
    if pending.strip():
        yield begun, pending.strip()


def _pin(text: str) -> Requirement:
    bare, hashes = _HASH.subn("", text)
    if bare.startswith("-"):
        raise ValueError(f"an option, {bare.split()[0]}: a lock holds requirements alone")
    try:
        requirement = Requirement(bare.strip())
    except InvalidRequirement as error:
        raise ValueError(f"not a requirement: {bare.strip()[:80]!r}") from error
    operators = [specifier.operator for specifier in requirement.specifier]
    versions = [specifier.version for specifier in requirement.specifier]
    if requirement.url or operators != ["=="] or versions[0].endswith("*"):
        raise ValueError(f"{requirement.name} is not pinned: write {requirement.name}==version")
    if not hashes:
        raise ValueError(f"{requirement.name} has no --hash=sha256:…")
    return requirement


def _share(marker: Marker | None) -> int:
    """Return for how many of the supported Python releases a requirement holds."""
    if marker is None:
        return len(_PYTHONS)
    linux = {
        "sys_platform": "linux",
        "platform_system": "Linux",
        "platform_machine": "x86_64",
        "os_name": "posix",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
        "extra": "",
    }
    return sum(
        marker.evaluate({**linux, "python_version": python, "python_full_version": f"{python}.9"})
        for python in _PYTHONS
    )
