"""A stack's or a client's Python environment, built once by content and never used half-built."""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import IO

from runners.stacks import build_commands
from runners.stacks.build_step import BuildStepError, Progress, Workshop
from runners.stacks.kept import NotStartedError
from runners.stacks.platform_tree import UnknownPlatformError, platform_version
from runners.stacks.torch_build import UnreadableReportError
from service.domain.key import content_key, short
from service.domain.redaction import redacted_bytes

# Raised when the same pins would be installed in another way: older environments are then left.
BUILDER_REVISION = 1

FREE_BYTES = 5 * 10**9
_MARKER = "kunline.json"
_LOOK_S = 0.5


class NoSpaceError(OSError):
    """There is not enough free disk to build an environment."""

    def __init__(self, folder: Path, free_bytes: int) -> None:
        super().__init__(
            f"building a stack needs {FREE_BYTES / 1e9:.0f} GB free at {folder}, and there are "
            f"{free_bytes / 1e9:.1f} GB; set XDG_CACHE_HOME to a larger disk, or free some space"
        )


# All that build() may raise because an environment cannot be had.
BUILD_ERRORS = (
    BuildStepError,
    NoSpaceError,
    NotStartedError,
    subprocess.SubprocessError,
    UnknownPlatformError,
    UnreadableReportError,
)


@dataclass(frozen=True, slots=True)
class Recipe:
    """What an environment is made of.

    lock: hashed requirements, complete, installed without dependency resolution. torch: the
    release taken as a CPU build, or None where the lock pins it. platform: one of our own.
    wheels: by file name, installed last, each in place of what was installed under its name.
    """

    lock: bytes
    torch: str | None = None
    platform: str | None = None
    wheels: Mapping[str, bytes] = field(default_factory=dict)

    def digest(self, python_minor: str) -> str:
        """Return what names the environment: the same content is built once and shared."""
        digests = {name: sha256(content).hexdigest() for name, content in self.wheels.items()}
        return content_key(
            {
                "builder": BUILDER_REVISION,
                "lock": sha256(self.lock).hexdigest(),
                "torch": self.torch,
                "platform": None if self.platform is None else platform_version(self.platform),
                "python": python_minor,
                # Left out where there is none, so that older environments stay what they are.
                **({"wheels": digests} if digests else {}),
            }
        )


@dataclass(frozen=True, slots=True)
class Environment:
    """A finished environment: its Python, its folder, its content digest, how it was built.

    torch_source: which build of torch was taken, and why, in words for a person.
    """

    python: Path
    root: Path
    digest: str
    log: Path
    torch_source: str


def build(
    recipe: Recipe,
    *,
    cache: Path,
    variables: Mapping[str, str],
    progress: Progress,
    python: Path | None = None,
) -> Environment:
    """Return the environment of a recipe, built now unless it is there already.

    cache: environments and wheels are kept below it. variables: what uv and pip see, their own
    settings included. python: the interpreter it is made from, by default the one that the runner's
    own was made from. Two builders of one recipe build once: the second waits.
    Raises NoSpaceError, BuildStepError, UnknownPlatformError.
    """
    base = python or base_python()
    digest = recipe.digest(build_commands.python_minor(base))
    environments = cache / "environments"
    environments.mkdir(parents=True, exist_ok=True)
    root = environments / digest
    with _alone(environments / f"{digest}.lock", progress):
        if not (root / _MARKER).is_file():
            _require_space(environments)
            _build(recipe, root, base=base, variables=variables, progress=progress)
    progress(f"environment {short(digest)} is ready", 1.0)
    return _finished(root)


def built(recipe: Recipe, *, cache: Path, python: Path | None = None) -> Environment | None:
    """Return the environment of a recipe if it is built already. Raises UnknownPlatformError."""
    digest = recipe.digest(build_commands.python_minor(python or base_python()))
    root = cache / "environments" / digest
    return _finished(root) if (root / _MARKER).is_file() else None


def base_python() -> Path:
    """Return the interpreter below the runner's own: never the runner's virtual environment."""
    return Path(getattr(sys, "_base_executable", sys.executable)).resolve()


def _build(
    recipe: Recipe, root: Path, *, base: Path, variables: Mapping[str, str], progress: Progress
) -> None:
    """Build beside the final place and rename: what has the final name is whole.

    The environment is made relocatable, so that its scripts do not name the place it was built at.
    """
    building = root.with_suffix(".building")
    for left_over in (building, root):
        shutil.rmtree(left_over, ignore_errors=True)
    log = root.parents[1] / "logs" / f"build-{short(root.name)}.log"
    log.parent.mkdir(exist_ok=True)
    log.write_text("", encoding="utf-8")
    workshop = Workshop(variables, log, progress, folder=root.parent)
    try:
        progress("making an empty environment", 0.0)
        build_commands.empty_environment(workshop, building, base=base)
        torch_source = "pinned by the lock"
        if recipe.torch is not None:
            progress(f"torch {recipe.torch}: asking pip which build it would serve", 0.02)
            torch_source = build_commands.install_torch(
                workshop, building, release=recipe.torch, base=base
            )
        progress(f"torch: {torch_source}; now the locked packages", 0.35)
        build_commands.install_lock(workshop, building, lock=recipe.lock)
        if recipe.platform is not None:
            progress(f"building the platform {recipe.platform}", 0.95)
            build_commands.install_platform(workshop, building, name=recipe.platform)
        if recipe.wheels:
            progress(f"installing {', '.join(recipe.wheels)}", 0.98)
            build_commands.install_wheels(workshop, building, wheels=recipe.wheels)
        _finish(building, root, log=log, torch_source=torch_source)
    finally:
        shutil.rmtree(building, ignore_errors=True)
        # An index's address may hold a password.
        log.write_bytes(redacted_bytes(log.read_bytes()))


def _finish(building: Path, root: Path, *, log: Path, torch_source: str) -> None:
    kept_log = building / "build.log"
    kept_log.write_bytes(redacted_bytes(log.read_bytes()))
    marker = building / _MARKER
    with marker.open("w", encoding="utf-8") as stream:
        json.dump({"digest": root.name, "torch_source": torch_source}, stream)
        stream.flush()
        os.fsync(stream.fileno())
    building.rename(root)


def _finished(root: Path) -> Environment:
    marker = json.loads((root / _MARKER).read_text(encoding="utf-8"))
    return Environment(
        python=root / "bin" / "python",
        root=root,
        digest=marker["digest"],
        log=root / "build.log",
        torch_source=marker["torch_source"],
    )


@contextmanager
def _alone(path: Path, progress: Progress) -> Iterator[None]:
    """Hold a file lock, which dies with its process, so a killed builder blocks nobody.

    progress: told while another holds it; it may raise to stop waiting.
    """
    with path.open("a") as lock:
        while not _taken(lock):
            progress("waiting for another runner, which builds the same environment", None)
            time.sleep(_LOOK_S)
        yield


def _taken(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _require_space(folder: Path) -> None:
    free_bytes = shutil.disk_usage(folder).free
    if free_bytes < FREE_BYTES:
        raise NoSpaceError(folder, free_bytes)
