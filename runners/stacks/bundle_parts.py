"""The parts of a bundle: a Python with the runner in it, and the scripts that start it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import uv

from runners.stacks.elf import looking_beside, needed_libraries
from service.formats.bundles import HostNeeds

# Wheels for an older C library than any that a Kunlun image has (Ubuntu 20.04: 2.31).
PLATFORM = "x86_64-manylinux_2_28"
LIMIT_S = 1800.0
OF_GLIBC = frozenset(
    {
        "ld-linux-x86-64.so.2",
        "ld-linux-aarch64.so.1",
        "libc.so.6",
        "libdl.so.2",
        "libm.so.6",
        "libpthread.so.0",
        "libresolv.so.2",
        "librt.so.1",
        "libutil.so.1",
    }
)
LEFT_OUT = (
    *("site-packages", "test", "__pycache__", "idlelib", "tkinter", "ensurepip", "*.a"),
    # Modules that nobody here imports, and for which a host would need one more library.
    *("_tkinter.*", "_curses*", "readline.*", "nis.*"),
)
KUNLINE = """\
#!/bin/sh
# Kunline out of a bundle: nothing of this host's Python is used.
here=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
export KUNLINE_MATRIX_DIR="${KUNLINE_MATRIX_DIR:-$here/matrix}"
export KUNLINE_CACHE_DIR="${KUNLINE_CACHE_DIR:-$here/cache}"
exec "$here/%s" -s -m service.cli "$@"
"""
# For the shell of a host on which the bundle's Python may not run: it says so, and unpacks nothing.
LOAD = """\
#!/bin/sh
# Makes a bundle ready: the folder this lies in, again after it was moved; or an archive, once this
# host can run it:  tar xOf kunline.tar kunline-bundle/load | sh -s -- kunline.tar [INTO]
set -eu
refuse() {{ echo "kunline: $1" >&2; exit 1; }}
[ "$(uname -m)" = {machine} ] || refuse "this bundle is for {machine}, and this is $(uname -m)"
glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null | cut -d' ' -f2) || glibc=
case "$glibc" in
  2.*) minor=$(echo "$glibc" | cut -d. -f2) ;;
  *) refuse "this bundle needs glibc {glibc}, and this host has none" ;;
esac
[ "$minor" -ge {minor} ] || refuse "this bundle needs glibc {glibc} ({parts}), and this host has \
$glibc: make it with --glibc $glibc and a --python that was built for it"
for library in {libraries}; do
  [ -x /sbin/ldconfig ] || break
  /sbin/ldconfig -p | grep -q "^[[:space:]]*$library " || refuse "this host has no $library, which \
the bundle's Python loads: install it, or make the bundle with a standalone --python"
done
if [ $# -eq 0 ]; then
  folder=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
else
  into=${{2:-.}}
  [ ! -e "$into/{folder}" ] || refuse "$into/{folder} is there already: move it away"
  free=$(df -Pk -- "$into" | awk 'NR == 2 {{ print $4 }}')
  [ "$free" -ge {kib} ] || refuse "{kib} KiB are needed at $into, and $free are free"
  half="$into/.{folder}.$$"
  trap 'rm -rf -- "$half"' EXIT
  mkdir -- "$half"
  tar xf "$1" -C "$half"
  mv -- "$half/{folder}" "$into/{folder}"
  rmdir -- "$half"
  folder=$(CDPATH= cd -- "$into/{folder}" && pwd)
fi
exec "$folder/bin/kunline" bundle load "$folder"
"""


class PackingError(RuntimeError):
    """A part of a bundle could not be made."""


def own_python(root: Path, base: Path) -> Path:
    """Copy a Python into a bundle, without its packages, and return its program there.

    base: its interpreter. Raises RunPathError for one that cannot be moved, and PackingError for
    one of another release.
    """
    minor = f"python{sys.version_info.major}.{sys.version_info.minor}"
    home = base.resolve().parents[1]
    if not (home / "lib" / minor / "os.py").is_file():
        raise PackingError(f"{base} has no lib/{minor} beside it: give a {minor} with --python")
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
    try:
        _run([str(python), "-I", "-c", "import runners.worker, service.cli.bundle"], variables)
    except PackingError as error:
        raise PackingError(
            "the given Python does not run Kunline out of its own site-packages, as a "
            f"distribution's own may not (Debian's looks elsewhere): give another: {error}"
        ) from error


def scripts(root: Path, python: Path) -> None:
    """Write what starts the runner."""
    program = root / "bin" / "kunline"
    program.parent.mkdir()
    _program(program, KUNLINE % python.relative_to(root))


def load_script(root: Path, needs: HostNeeds) -> None:
    """Write what makes a bundle ready on a host that has what it needs."""
    parts = ", ".join(f"{part}: {glibc}" for part, glibc in needs.parts.items())
    told = LOAD.format(
        machine=needs.machine,
        glibc=needs.glibc,
        minor=needs.glibc.split(".")[1],
        parts=parts,
        folder="kunline-bundle",
        libraries=" ".join(needs.libraries),
        kib=needs.size_bytes // 1024 + 1,
    )
    _program(root / "load", told)


def libraries_of_host(python: Path) -> tuple[str, ...]:
    """Return the libraries that a Python takes from its host, besides the C library itself.

    Its packages bring their own: they are wheels. python: its folder.
    """
    own = {path.name for path in (python / "lib").glob("*.so*")}
    files = [*(python / "bin").iterdir(), *python.glob("lib/python3*/lib-dynload/*.so")]
    needed = {name for path in files if path.is_file() for name in needed_libraries(path)}
    return tuple(sorted(needed - own - OF_GLIBC))


def _program(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
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
        said = error.stderr.strip()[-1500:]
        raise PackingError(f"{Path(words[0]).name} {words[2]} failed: {said}") from error
    except (OSError, subprocess.SubprocessError) as error:
        raise PackingError(f"{Path(words[0]).name} {words[2]}: {error}") from error
