"""The parts of a bundle: a Python with the runner in it, and the scripts that start it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import uv

from runners.stacks.elf import looking_beside

# Wheels for an older C library than any that a Kunlun image has (Ubuntu 20.04: 2.31).
PLATFORM = "x86_64-manylinux_2_28"
LIMIT_S = 1800.0
LEFT_OUT = ("site-packages", "test", "__pycache__", "idlelib", "tkinter", "ensurepip", "*.a")
KUNLINE = """\
#!/bin/sh
# Kunline out of a bundle: nothing of this host's Python is used.
here=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
export KUNLINE_MATRIX_DIR="${KUNLINE_MATRIX_DIR:-$here/matrix}"
export KUNLINE_CACHE_DIR="${KUNLINE_CACHE_DIR:-$here/cache}"
exec "$here/%s" -s -m service.cli "$@"
"""
LOAD = """\
#!/bin/sh
# Makes an unpacked bundle ready where it lies now. Run it again after it was moved.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
exec "$here/bin/kunline" bundle load "$here"
"""


class PackingError(RuntimeError):
    """A part of a bundle could not be made."""


def own_python(root: Path, base: Path) -> Path:
    """Copy a Python into a bundle, without its packages, and return its program there.

    base: its interpreter. Raises RunPathError for one that cannot be moved.
    """
    home = base.parents[1]
    minor = f"python{sys.version_info.major}.{sys.version_info.minor}"
    python = root / "python"
    shutil.copytree(
        home / "lib" / minor,
        python / "lib" / minor,
        symlinks=True,
        ignore=shutil.ignore_patterns(*LEFT_OUT),
    )
    for library in sorted((home / "lib").glob("libpython3*.so*")):
        shutil.copy2(library, python / "lib", follow_symlinks=False)
    program = python / "bin" / minor
    program.parent.mkdir()
    shutil.copy2(base, program)
    for path in (program, *(python / "lib").glob("libpython3*.so*")):
        if not path.is_symlink():
            looking_beside(path, home / "lib")
    return program


def runner(python: Path, checkout: Path, *, variables: Mapping[str, str]) -> None:
    """Install the runner and what its lock pins into a bundle's Python. Raises PackingError."""
    site = python.parents[1] / "lib" / python.name / "site-packages"
    site.mkdir(parents=True)
    target = ("--target", str(site), "--python", sys.executable)
    only = ("--only-binary", ":all:", "--python-platform", PLATFORM)
    lock = ("--no-deps", "--require-hashes", "--requirements", str(checkout / "requirements.lock"))
    ours = ("--no-deps", "--no-build-isolation", str(checkout))
    _run([uv.find_uv_bin(), "pip", "install", *target, *only, *lock], variables)
    _run([uv.find_uv_bin(), "pip", "install", *target, *ours], variables)


def scripts(root: Path, python: Path) -> None:
    """Write what starts the runner, and what makes an unpacked bundle ready."""
    program = root / "bin" / "kunline"
    program.parent.mkdir()
    program.write_text(KUNLINE % python.relative_to(root), encoding="utf-8")
    (root / "load").write_text(LOAD, encoding="utf-8")
    for path in (program, root / "load"):
        path.chmod(0o755)


def _run(words: list[str], variables: Mapping[str, str]) -> None:
    try:
        subprocess.run(
            words,
            check=True,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            env={**variables, "PATH": variables.get("PATH", os.defpath)},
        )
    except subprocess.CalledProcessError as error:
        raise PackingError(f"uv {words[2]} failed: {error.stderr.strip()[-1500:]}") from error
    except (OSError, subprocess.SubprocessError) as error:
        raise PackingError(f"uv {words[2]}: {error}") from error
