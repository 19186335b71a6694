"""A small process between the runner and what it starts: when the runner is gone, all of it goes.

Run by path with the runner's own Python, with the standard library alone:

    keeper.py CONTROL GRACE COMMAND…

CONTROL is the number of an inherited pipe's reading end. The runner holds the writing end and
never writes: end of file means that it wants the command ended, or that it died, kill -9 included.
Then the command gets TERM, what it leaves behind gets TERM, and after GRACE seconds every
descendant gets KILL, daemons that left the process group included: the keeper is their subreaper,
so they are its children once their own parents are gone. It exits only when none is left.

The keeper writes the command's process id to its own standard output; the command writes to the
keeper's standard error, which is a log file. The keeper's exit code is the command's, or
128 + the signal that ended it.
"""

import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_STDERR = 2
_SIGNAL_BASE = 128
_BEAT_S = 0.05


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def _die_with_the_keeper() -> None:
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def descendants(root: int) -> list[int]:
    """Return the process ids below a process, zombies left out, parents before children."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            pid = int(folder.name)
            parent = _living_parent(pid)
            children.setdefault(parent, []).append(pid)
    found: list[int] = []
    queue = [root]
    while queue:
        below = children.get(queue.pop(0), [])
        found += below
        queue += below
    return found


def _living_parent(pid: int) -> int:
    """Return the parent of a living process, or -1 for a zombie or one that is gone."""
    try:
        after_name = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return -1
    return -1 if after_name[0] in {b"Z", b"X"} else int(after_name[1])


class Keeper:
    """One command, its descendants, and how they end."""

    def __init__(self, command: list[str], *, control: int, grace_s: float) -> None:
        self.control = control
        self.grace_s = grace_s
        self.exit_code: int | None = None
        self.woken, self.waker = os.pipe()
        os.set_blocking(self.waker, False)
        signal.set_wakeup_fd(self.waker, warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._note)
        self.asked_to_end = False
        # Held on to: a Popen that nobody holds waits for its process as it goes, and a command that
        # was over by then would have taken its exit code along and never be waited for again.
        self.command = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=_STDERR,
            stderr=_STDERR,
            start_new_session=True,
            # One thread, and nothing but a system call: the two cases this argument is unsafe in.
            preexec_fn=_die_with_the_keeper,  # noqa: PLW1509
        )
        self.pid = self.command.pid

    def _note(self, number: int, _frame: object) -> None:
        self.asked_to_end |= number != signal.SIGCHLD

    def keep(self) -> int:
        """Wait for the command or for the runner to be gone, end everything, return the code."""
        while self.exit_code is None and not self.asked_to_end:
            ready, _, _ = select.select([self.control, self.woken], [], [])
            self.asked_to_end |= self.control in ready
            if self.woken in ready:
                os.read(self.woken, 512)
            self._reap()
        self._end()
        return 0 if self.exit_code is None else self.exit_code

    def _end(self) -> None:
        deadline = time.monotonic() + self.grace_s
        told: set[int] = set()
        while self._reap():
            # A list made while processes fork and die may miss some; having no child may not.
            living = descendants(os.getpid())
            if time.monotonic() >= deadline:
                _signal(living, signal.SIGKILL)
            else:
                # While the command lives, it alone is told: it knows how to take its children down.
                audience = {self.pid} if self.exit_code is None else set(living)
                _signal(audience - told, signal.SIGTERM)
                told |= audience
            time.sleep(_BEAT_S)

    def _reap(self) -> bool:
        """Take the dead away and return whether any child is left.

        A subreaper without a child has no descendant at all: the kernel gives it the children of
        each that dies in the same step.
        """
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.pid:
                code = os.waitstatus_to_exitcode(status)
                self.exit_code = code if code >= 0 else _SIGNAL_BASE - code


def _signal(pids: "set[int] | list[int]", number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue


def main(arguments: list[str]) -> int:
    """Keep a command: see this module's first lines."""
    control, grace_s, *command = arguments
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    try:
        keeper = Keeper(command, control=int(control), grace_s=float(grace_s))
    except OSError as error:
        sys.stderr.write(f"cannot start {command[0]}: {error}\n")
        return 127
    sys.stdout.write(f"{keeper.pid}\n")
    sys.stdout.flush()
    return keeper.keep()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
