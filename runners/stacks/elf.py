"""Programs and libraries as files: which C library they need, and where they look for others."""

import re
from pathlib import Path

MAGIC = b"\x7fELF"
OLDEST = "2.17"
_NEEDED = re.compile(rb"\bGLIBC_2\.(\d{1,3})\b")
_BESIDE = b"$ORIGIN/../lib"


class RunPathError(ValueError):
    """A program cannot be told to look for its libraries beside itself."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} looks for its libraries in a place of this host that is too short a name to "
            "be replaced: give a relocatable Python with --python"
        )


def needed_glibc(path: Path) -> str:
    """Return the oldest C library that a file runs on, by the versions that it names.

    A file that is no ELF, or names none, runs on any: '2.17', the oldest that is asked for.
    """
    content = path.read_bytes()
    if not content.startswith(MAGIC):
        return OLDEST
    minors = [int(found) for found in _NEEDED.findall(content)]
    return newest([OLDEST, *(f"2.{minor}" for minor in minors)])


def newest(versions: list[str]) -> str:
    """Return the newest of some versions such as '2.28'."""
    return max(versions, key=lambda each: int(each.partition(".")[2]))


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
