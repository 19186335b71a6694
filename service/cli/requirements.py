"""What this machine must offer before real stacks are built on it, said before any download."""

import os
import platform
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

PYTHONS = ((3, 11), (3, 12), (3, 13))
GLIBC = (2, 34)
DISK_BYTES = 10 * 10**9
# For logs and results, where the stacks are built already.
DISK_BYTES_BUILT = 10**9
NEEDS = (
    "The demo needs Linux on x86-64 with glibc 2.34 or newer, CPython 3.11 to 3.13, "
    "and 10 GB of free disk."
)


@dataclass(frozen=True, slots=True)
class Machine:
    """What was found: system, architecture, C library, Python, and free bytes by folder."""

    system: str
    architecture: str
    library: str
    library_version: tuple[int, ...]
    python: tuple[int, int]
    implementation: str
    free_bytes: dict[Path, int]


def this_machine(*folders: Path) -> Machine:
    """Return what this machine is; folders need not exist yet."""
    library, version = platform.libc_ver()
    return Machine(
        system=sys.platform,
        architecture=platform.machine(),
        library=library,
        library_version=tuple(int(part) for part in version.split(".")[:2] if part.isdigit()),
        python=sys.version_info[:2],
        implementation=platform.python_implementation(),
        free_bytes={folder: shutil.disk_usage(_existing(folder)).free for folder in folders},
    )


def missing(machine: Machine, *, disk_bytes: int = DISK_BYTES) -> tuple[str, ...]:
    """Return what a machine lacks, one sentence each; nothing when it will do."""
    version = ".".join(str(part) for part in machine.library_version)
    python = ".".join(str(part) for part in machine.python)
    lacks = [
        (
            (machine.system, machine.architecture) != ("linux", "x86_64"),
            f"This is {machine.system} on {machine.architecture}, not Linux on x86-64.",
        ),
        (
            machine.library != "glibc" or machine.library_version < GLIBC,
            f"The C library is {machine.library or 'unknown'} {version}, not glibc 2.34 or newer.",
        ),
        (
            machine.implementation != "CPython" or machine.python not in PYTHONS,
            f"This is {machine.implementation} {python}, not CPython 3.11 to 3.13.",
        ),
    ]
    short_of_disk = [
        f"{folder} has {free / 1e9:.1f} GB free of the {disk_bytes / 1e9:.0f} GB needed."
        for folder, free in machine.free_bytes.items()
        if free < disk_bytes
    ]
    return (*(sentence for lacking, sentence in lacks if lacking), *short_of_disk)


def built(cache: Path) -> int:
    """Return how many environments lie ready in the cache; half-built ones do not count."""
    found = (cache / "environments").glob("*/")
    return sum(folder.suffix == "" for folder in found)


def cache_home() -> Path:
    """Return where built stacks are kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kunline"


def _existing(folder: Path) -> Path:
    return next(place for place in (folder, *folder.parents) if place.exists())
