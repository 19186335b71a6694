"""Starting a command under the keeper, and ending it with all of its descendants."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import RawIOBase
from pathlib import Path
from threading import Thread
from typing import IO

from service.domain.redaction import redacted_bytes

KEEPER = Path(__file__).with_name("keeper.py")

# What the keeper may need beyond the grace to see the last of them gone.
MARGIN_S = 20.0

# So much of a line without an end is written at a time.
LINE_BYTES_MAX = 2**20
# A server prints all its arguments on one line of many thousand characters.
LINE_LIMIT = 500


class NotStartedError(RuntimeError):
    """The command could not be started at all."""

    def __init__(self, command: Sequence[str], *, log: Path) -> None:
        super().__init__(f"could not start {command[0]}: {tail(log, lines=3)}")


class WouldNotEndError(RuntimeError):
    """The keeper is still there although every limit is over."""

    def __init__(self, pid: int) -> None:
        super().__init__(f"process {pid} and what it started would not end")


class _Scribe(Thread):
    """Writes what a command prints to its log, line by line and without secrets.

    It reads on when the disk is full, since the command would else wait for it; failed then says
    that the log is not whole.
    """

    def __init__(self, printed: IO[bytes], log: RawIOBase) -> None:
        super().__init__(name="scribe", daemon=True)
        self._printed = printed
        self._log = log
        self.failed: OSError | None = None

    def run(self) -> None:
        """Write until nobody can print any more."""
        with self._printed:
            while line := self._printed.readline(LINE_BYTES_MAX):
                self._write(redacted_bytes(line))

    def _write(self, line: bytes) -> None:
        if self.failed is not None:
            return
        try:
            while line:
                line = line[self._log.write(line) or 0 :]
        except OSError as error:
            self.failed = error


@dataclass(frozen=True, slots=True)
class Kept:
    """A running command: its process id, its keeper and the log of what it prints."""

    pid: int
    keeper: "subprocess.Popen[bytes]"
    log: Path
    scribe: _Scribe

    @property
    def exit_code(self) -> int | None:
        """The command's exit code once all of its tree is gone and its log is whole, else None."""
        code = self.keeper.poll()
        if code is not None:
            self.scribe.join(MARGIN_S)
        return code

    def wait(self, timeout_s: float) -> int:
        """Return the exit code. Raises subprocess.TimeoutExpired after that many seconds."""
        code = self.keeper.wait(timeout_s)
        self.scribe.join(MARGIN_S)
        return code


@contextmanager
def kept(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    log: Path,
    grace_s: float = 10.0,
    folder: Path | None = None,
) -> Iterator[Kept]:
    """Run a command under the keeper; on leaving, no process of its tree is left.

    environment: everything the command sees. log: appended to, without secrets. grace_s: from TERM
    to KILL. Raises NotStartedError, WouldNotEndError if a process survives KILL, and OSError when
    what was printed could not all be written.
    """
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as control, log.open("ab", buffering=0) as output:
        try:
            keeper = subprocess.Popen(
                [sys.executable, "-I", str(KEEPER), str(reading), str(grace_s), *command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(environment),
                cwd=folder,
                pass_fds=(reading,),
                start_new_session=True,
            )
        finally:
            os.close(reading)
        scribe = _Scribe(_piped(keeper.stderr), output)
        scribe.start()
        pid: int | None = None
        try:
            pid = _command_pid(keeper, scribe, command, log)
            yield Kept(pid, keeper, log, scribe)
        finally:
            control.close()
            _see_it_end(keeper, grace_s + MARGIN_S)
            if pid is not None and keeper.returncode < 0:
                _end_without_keeper(pid)
            scribe.join(MARGIN_S)
        if scribe.failed is not None:
            raise scribe.failed


def _piped(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise OSError("a process was started without its pipes")
    return stream


def _command_pid(
    keeper: "subprocess.Popen[bytes]", scribe: _Scribe, command: Sequence[str], log: Path
) -> int:
    first_line = _piped(keeper.stdout).readline().strip()
    if not first_line:
        keeper.wait(MARGIN_S)
        scribe.join(MARGIN_S)
        raise NotStartedError(command, log=log)
    return int(first_line)


def _see_it_end(keeper: "subprocess.Popen[bytes]", limit_s: float) -> None:
    try:
        keeper.wait(limit_s)
    except subprocess.TimeoutExpired:
        raise WouldNotEndError(keeper.pid) from None
    finally:
        _piped(keeper.stdout).close()


def _end_without_keeper(pid: int) -> None:
    """Kill the group of a command whose keeper was killed; the kernel has told the command."""
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def tail(log: Path, *, lines: int = 20, reach_bytes: int = 40_000) -> str:
    """Return the last lines of a log that are not empty, each cut where no person reads on.

    What is far from the log's end is not read.
    """
    with log.open("rb") as stream:
        stream.seek(max(0, log.stat().st_size - reach_bytes))
        text = stream.read().decode(errors="replace")
    said = [
        line if len(line) <= LINE_LIMIT else f"{line[:LINE_LIMIT]}…" for line in text.splitlines()
    ]
    return "\n".join([line for line in said if line.strip()][-lines:])
