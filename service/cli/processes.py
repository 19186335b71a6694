"""Child processes of a command: started together, restarted when they die, ended together."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

PR_SET_PDEATHSIG = 1
STOP_LIMIT_S = 90.0
RESTARTS_MAX = 5
RESTART_WINDOW_S = 120.0

_libc = ctypes.CDLL(None, use_errno=True)


class ChildGaveUpError(RuntimeError):
    """A child process died again and again, or before it was ready."""


@dataclass(frozen=True, slots=True)
class Child:
    """One process to keep running: its name, its words, what it reads, where it writes.

    log: a file that its output is appended to, or None to share this terminal.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    log: Path | None = None
    stdin: bytes | None = None


def module(name: str, *arguments: str) -> list[str]:
    """Return the command that runs one of our modules in this Python."""
    return [sys.executable, "-m", name, *arguments]


class Tree:
    """Child processes that live as long as the command that started them.

    Each child has a session of its own, so a Ctrl-C reaches this process alone, which then ends
    them in order; and each is told by the kernel when this process dies without a word.
    Must be used from the main thread: the kernel watches the thread that started a child.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._running: dict[str, tuple[Child, subprocess.Popen[bytes]]] = {}
        self._deaths: dict[str, list[float]] = {}

    def start(self, child: Child) -> None:
        """Start one child and keep it running."""
        self._running[child.name] = (child, _spawn(child))

    def tend(self) -> None:
        """Restart children that died. Raises ChildGaveUpError when one does so too often."""
        for name, (child, process) in list(self._running.items()):
            if (code := process.poll()) is None:
                continue
            now = time.monotonic()
            recent = [at for at in self._deaths.get(name, []) if now - at < RESTART_WINDOW_S]
            self._deaths[name] = [*recent, now]
            if len(recent) >= RESTARTS_MAX:
                raise ChildGaveUpError(f"{name} ended {RESTARTS_MAX + 1} times{_tail(child)}")
            self._say(f"{name} ended with {code}; starting it again")
            self._running[name] = (child, _spawn(child))

    def require(self, name: str) -> None:
        """Raise ChildGaveUpError if a child has ended."""
        child, process = self._running[name]
        if (code := process.poll()) is not None:
            raise ChildGaveUpError(f"{name} ended with {code}{_tail(child)}")

    def stop(self) -> None:
        """End every child, the last started first: ask, wait, then kill."""
        for _, process in reversed(self._running.values()):
            _end(process)
        self._running.clear()


def _spawn(child: Child) -> subprocess.Popen[bytes]:
    output: IO[bytes] | None = child.log.open("ab") if child.log else None
    try:
        process = subprocess.Popen(
            child.command,
            stdin=subprocess.PIPE if child.stdin is not None else subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT if output else None,
            env={**os.environ, **child.environment},
            start_new_session=True,
            preexec_fn=_die_with_parent,  # noqa: PLW1509 — it makes one system call and takes no lock
        )
    finally:
        if output:
            output.close()
    if process.stdin is not None:
        process.stdin.write(child.stdin or b"")
        process.stdin.close()
    return process


def _die_with_parent() -> None:
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(STOP_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _tail(child: Child, lines: int = 15) -> str:
    if child.log is None or not child.log.exists():
        return ""
    last = child.log.read_text(errors="replace").splitlines()[-lines:]
    return f"; the end of {child.log}:\n" + "\n".join(last)
