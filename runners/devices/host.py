"""What a device may look at on its host: files below a root, and programs that end in time.

Both come in as arguments, so an emulated host can stand in for a real one.
"""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from service.domain.stack import UNKNOWN, UNKNOWN_PERMISSION

ROOT = "KUNLINE_HOST_ROOT"
MAX_BYTES = 4 * 2**20
ERROR_CHARACTERS = 300
# What a vendor's tool may need of our own variables; nothing else is passed on.
_PASSED_ON = ("PATH", "HOME", "LD_LIBRARY_PATH")


class DeviceError(Exception):
    """A device cannot tell what it was asked; its words say why."""


class ProgramError(DeviceError, RuntimeError):
    """A program is not there, does not end, or ends with an error."""

    def __init__(self, words: Sequence[str], why: str) -> None:
        super().__init__(f"`{' '.join(words)}` {why}")


@dataclass(frozen=True, slots=True)
class Host:
    """One host. root: /proc, /dev and the like are looked for below it. variables: of this process.

    Nothing of a host is ever written to, and no program is started that changes it.
    """

    root: Path = Path("/")
    variables: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, variables: Mapping[str, str]) -> Self:
        """Return the host that this process's environment points at: by default this one."""
        return cls(Path(variables.get(ROOT) or "/"), variables)

    def path(self, name: str) -> Path:
        """Return the place of an absolute path on this host."""
        return self.root / name.lstrip("/")

    def text(self, name: str) -> str:
        """Return a file's text without its edges, or 'unknown', or 'unknown(permission)'."""
        try:
            with self.path(name).open("rb") as stream:
                return stream.read(MAX_BYTES).decode(errors="replace").strip() or UNKNOWN
        except PermissionError:
            return UNKNOWN_PERMISSION
        except OSError:
            return UNKNOWN

    def link(self, name: str) -> str:
        """Return where a link leads, or 'unknown', or 'unknown(permission)'."""
        try:
            return str(self.path(name).readlink())
        except PermissionError:
            return UNKNOWN_PERMISSION
        except OSError:
            return UNKNOWN

    def said(self, words: Sequence[str], *, limit_s: float) -> str:
        """Return what a program prints, in a session of its own that ends with it.

        Raises ProgramError when it is not there, fails, prints too much, or is not done in time.
        """
        passed_on = {name: self.variables[name] for name in _PASSED_ON if name in self.variables}
        try:
            process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={"PATH": os.defpath, **passed_on, "LC_ALL": "C"},
                start_new_session=True,
            )
        except OSError as error:
            raise ProgramError(words, f"cannot be started: {error.strerror}") from error
        with process:
            try:
                output, errors = process.communicate(timeout=limit_s)
            except subprocess.TimeoutExpired as error:
                raise ProgramError(words, f"was not done after {limit_s:g} s") from error
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        if process.returncode != 0:
            end = (errors or output).decode(errors="replace").strip()[-ERROR_CHARACTERS:]
            raise ProgramError(words, f"ended with {process.returncode}: {end}")
        if len(output) > MAX_BYTES:
            raise ProgramError(words, f"printed {len(output)} bytes, more than {MAX_BYTES}")
        return output.decode(errors="replace")
