"""Import benchmark tools once, then run each repeat in a fork of this process.

Run by path with the client environment's Python; standard library and the tool itself alone,
in Python 3.8 syntax. Importing a tool takes seconds, a fork takes milliseconds.

argv: one 'tool=module,older.module' each; the first module that exists is imported.
stdout: one JSON line when ready, then one a command. stdin: one JSON command a line:
  {"tool", "argv", "stdout", "stderr", "cwd", "timeout_s"} starts a repeat;
  {"stop": true} kills the one that runs. The end of stdin kills it as well and ends this process.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import importlib.metadata
import importlib.util
import json
import os
import runpy
import select
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

PR_SET_PDEATHSIG = 1
READ_BYTES = 65536
# How often the child's CPU time is looked at, until there are so many samples; then half as often.
SAMPLE_S = 0.25
SAMPLES_MAX = 4000
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class Commands:
    """The lines of stdin, read without ever blocking on half a line."""

    def __init__(self) -> None:
        self.descriptor = os.dup(0)
        self.buffer = b""
        self.ended = False

    def read(self, timeout_s: float | None, also: Sequence[int] = ()) -> dict[str, Any] | None:
        """Return one command, or None when the time is up or another descriptor wakes us."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while b"\n" not in self.buffer and not self.ended:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            watched = [self.descriptor, *also]
            readable, _, _ = select.select(watched, [], [], left)
            if self.descriptor not in readable:
                return None
            chunk = os.read(self.descriptor, READ_BYTES)
            self.ended = not chunk
            self.buffer += chunk
        line, _, self.buffer = self.buffer.partition(b"\n")
        return json.loads(line) if line.strip() else None


def main() -> int:
    """Import, say so, and serve commands until stdin ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    commands = Commands()
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    die_with_parent(os.getppid())
    here = Path(__file__).resolve().parent
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != here]
    # What tools import stays: nobody looks through it for what may go, neither now nor in a fork.
    gc.disable()
    tools, problem, seconds = imported(sys.argv[1:])
    answer(
        answers,
        {"ready": not problem, "problem": problem, "seconds": seconds, "version": version()},
    )
    if problem:
        return 1
    gc.collect()
    gc.freeze()
    gc.enable()
    wake_reader, wake_writer = os.pipe()
    os.set_blocking(wake_reader, False)
    os.set_blocking(wake_writer, False)
    signal.set_wakeup_fd(wake_writer, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    while not commands.ended:
        command = commands.read(None)
        if command and "tool" in command:
            answer(answers, run(tools[command["tool"]], command, commands, wake_reader))
    return 0


def imported(wanted: Sequence[str]) -> tuple[dict[str, Any], str, float]:
    """Return the modules by tool name, what went wrong, and how long it took in seconds."""
    started = time.monotonic()
    tools = {}
    problem = ""
    for item in wanted:
        tool, _, modules = item.partition("=")
        try:
            tools[tool] = importlib.import_module(first_that_exists(modules.split(",")))
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            traceback.print_exc()
            problem = f"{tool}: {type(error).__name__}: {error}"
            break
    return tools, problem, time.monotonic() - started


def first_that_exists(modules: list[str]) -> str:
    """Return the first module that can be found; the last one, whose import will say why not."""
    for name in modules:
        with contextlib.suppress(ImportError):
            if importlib.util.find_spec(name) is not None:
                return name
    return modules[-1]


def version() -> str:
    """Return the release of the tool's distribution, or '' where it has none."""
    try:
        return importlib.metadata.version("sglang")
    except importlib.metadata.PackageNotFoundError:
        return ""


def run(
    module: Any, command: dict[str, Any], commands: Commands, wake_reader: int
) -> dict[str, Any]:
    """Fork, run the tool in the child, and return how it ended."""
    started = time.time()
    clock = time.monotonic()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        os._exit(in_child(module, command, parent))
    with contextlib.suppress(OSError):
        os.setpgid(child, child)
    ended_by = "itself"
    deadline = clock + float(command["timeout_s"])
    samples = Samples(started)
    while True:
        samples.take(started + time.monotonic() - clock, child)
        pid, status, usage = os.wait4(child, os.WNOHANG)
        if pid:
            break
        patience = min(samples.every_s, max(0.0, deadline - time.monotonic()))
        order = commands.read(patience, also=[wake_reader])
        drain(wake_reader)
        if commands.ended or (order and order.get("stop")):
            ended_by = "stop"
        elif time.monotonic() >= deadline:
            ended_by = "timeout"
        if ended_by != "itself":
            kill(child)
            _, status, usage = os.wait4(child, 0)
            break
    kill_group(child)  # what the tool itself may have started and left behind
    return {
        "rc": -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status),
        "ended_by": ended_by,
        "started": started,
        "ended": started + time.monotonic() - clock,
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "cpu_samples": samples.taken,
    }


class Samples:
    """The CPU time of a process over the wall clock, at a bounded number of moments."""

    def __init__(self, started: float) -> None:
        self.every_s = SAMPLE_S
        self.taken = [(started, 0.0)]

    def take(self, now: float, pid: int) -> None:
        """Add what a process has used by now: seconds since the epoch, CPU seconds."""
        if now - self.taken[-1][0] < self.every_s / 2:
            return
        with contextlib.suppress(OSError, ValueError, IndexError):
            self.taken.append((now, cpu_s(pid)))
        if len(self.taken) > SAMPLES_MAX:
            del self.taken[1::2]
            self.every_s *= 2


def cpu_s(pid: int) -> float:
    """Return the CPU seconds, user and system, of a process and all its threads."""
    after_name = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / TICKS_PER_S


def in_child(module: Any, command: dict[str, Any], parent: int) -> int:
    """Become the tool, as if its command line had been called; return its exit code."""
    try:
        os.setpgid(0, 0)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        die_with_parent(parent)
        for name, descriptor in (("stdout", 1), ("stderr", 2)):
            target = os.open(command[name], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            os.dup2(target, descriptor)
            os.close(target)
        os.chdir(command["cwd"])
        sys.argv = [module.__name__, *command["argv"]]
        if hasattr(module, "cli_main"):
            module.cli_main()
        else:
            runpy.run_module(module.__name__, run_name="__main__")
        code = 0
    except SystemExit as end:
        code = exit_code(end)
    except BaseException:  # noqa: BLE001 — whatever ends the tool ends this fork, with its traceback
        traceback.print_exc()
        code = 1
    with contextlib.suppress(Exception):
        sys.stdout.flush()
        sys.stderr.flush()
    return code


def exit_code(end: SystemExit) -> int:
    """Return what a Python that ends with this SystemExit would hand its caller."""
    if end.code is None:
        return 0
    if isinstance(end.code, int):
        return end.code & 0xFF
    sys.stderr.write(f"{end.code}\n")
    return 1


def die_with_parent(parent: int) -> None:
    """Ask the kernel to kill this process when its parent dies, and check it has not yet."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def kill(child: int) -> None:
    """Kill a child that is not reaped yet, and its process group."""
    kill_group(child)
    os.kill(child, signal.SIGKILL)


def kill_group(child: int) -> None:
    """Kill whatever is in the process group that a child led."""
    with contextlib.suppress(OSError):
        os.killpg(child, signal.SIGKILL)


def drain(descriptor: int) -> None:
    """Empty the pipe that signals write to."""
    with contextlib.suppress(BlockingIOError):
        while os.read(descriptor, READ_BYTES):
            pass


def answer(stream: IO[str], message: dict[str, Any]) -> None:
    """Write one JSON line."""
    stream.write(json.dumps(message) + "\n")
    stream.flush()


if __name__ == "__main__":
    sys.exit(main())
