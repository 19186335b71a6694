"""Starting a command under the keeper, and ending it with all of its descendants."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

KEEPER = Path(__file__).with_name("keeper.py")

# What the keeper may need beyond the grace to see the last of them gone.
MARGIN_S = 20.0

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


@dataclass(frozen=True, slots=True)
class Kept:
    """A running command: its process id, its keeper and the log it writes to."""

    pid: int
    keeper: "subprocess.Popen[bytes]"
    log: Path

    @property
    def exit_code(self) -> int | None:
        """The command's exit code once it and all its descendants are gone, else None."""
        return self.keeper.poll()

    def wait(self, timeout_s: float) -> int:
        """Return the exit code. Raises subprocess.TimeoutExpired after that many seconds."""
        return self.keeper.wait(timeout_s)


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

    environment: everything the command sees. log: appended to. grace_s: from TERM to KILL.
    Raises NotStartedError, and WouldNotEndError if a process survives KILL.
    """
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as control, log.open("ab") as output:
        try:
            keeper = subprocess.Popen(
                [sys.executable, "-I", str(KEEPER), str(reading), str(grace_s), *command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=output,
                env=dict(environment),
                cwd=folder,
                pass_fds=(reading,),
                start_new_session=True,
            )
        finally:
            os.close(reading)
        pid: int | None = None
        try:
            pid = _command_pid(keeper, command, log)
            yield Kept(pid, keeper, log)
        finally:
            control.close()
            _see_it_end(keeper, grace_s + MARGIN_S)
            if pid is not None and keeper.returncode < 0:
                _end_without_keeper(pid)


def _command_pid(keeper: "subprocess.Popen[bytes]", command: Sequence[str], log: Path) -> int:
    if keeper.stdout is None:
        raise NotStartedError(command, log=log)
    first_line = keeper.stdout.readline().strip()
    if not first_line:
        keeper.wait(MARGIN_S)
        raise NotStartedError(command, log=log)
    return int(first_line)


def _see_it_end(keeper: "subprocess.Popen[bytes]", limit_s: float) -> None:
    try:
        keeper.wait(limit_s)
    except subprocess.TimeoutExpired:
        raise WouldNotEndError(keeper.pid) from None
    finally:
        if keeper.stdout is not None:
            keeper.stdout.close()


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
