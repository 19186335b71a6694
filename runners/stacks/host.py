"""A stack that lies on the host already: it is looked for, and nothing is installed."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

_LIMIT_S = 60.0


class NotOnHostError(LookupError):
    """What a stack file names is not on this host."""

    def __init__(self, what: str, searched: str) -> None:
        super().__init__(
            f"{what} is not on this host ({searched}); install it, or correct the stack file: "
            "a runner installs nothing into a host's own environment"
        )


def host_python(name: str, variables: Mapping[str, str]) -> Path:
    """Return the Python that a stack names, by its path or by its name on the runner's path.

    Raises NotOnHostError when it is not there, or does not run.
    """
    path = variables.get("PATH", os.defpath)
    found = shutil.which(name, path=path)
    if found is None:
        raise NotOnHostError(f"Python {name!r}", f"looked for on {path}")
    try:
        subprocess.run(
            [found, "-I", "-c", ""], stdin=subprocess.DEVNULL, check=True, timeout=_LIMIT_S
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise NotOnHostError(f"Python {found!r}", f"it does not run: {error}") from error
    # Not resolved: a virtual environment is known by the path that its Python is called by.
    return Path(found).absolute()


def host_program(name: str, python: Path, variables: Mapping[str, str]) -> Path:
    """Return a launch program: the one beside the measured Python, else one on the runner's path.

    Raises NotOnHostError.
    """
    beside = python.parent / name
    if os.access(beside, os.X_OK):
        return beside
    path = variables.get("PATH", os.defpath)
    found = shutil.which(name, path=path)
    if found is None:
        raise NotOnHostError(f"launch program {name!r}", f"neither {beside} nor on {path}")
    return Path(found).absolute()
