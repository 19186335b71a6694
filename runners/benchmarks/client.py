"""Drive the benchmark client: one process that imports the tool once and forks for each repeat."""

import json
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

INSIDE = Path(__file__).with_name("inside") / "client.py"

LOG_TAIL_LINES = 20
# How often a stop is looked for while a tool runs, and how long a killed one may take to go.
BEAT_S = 0.2
GOODBYE_S = 10.0
# What of the runner's own environment a measured client sees; nothing else may change a number.
PASSED_ON = ("PATH", "LANG", "LC_ALL", "TMPDIR", "TZ", "LD_LIBRARY_PATH")

EndedBy = Literal["itself", "stop", "timeout"]


class ClientBrokenError(RuntimeError):
    """The benchmark client could not be imported, or its process is gone."""

    def __init__(self, problem: str, *, log: Path) -> None:
        super().__init__(f"{problem}; the end of its log: {tail(log)}")


@dataclass(frozen=True, slots=True)
class Tool:
    """A benchmark tool: its name here, and the modules it was found in by release, newest first."""

    name: str
    modules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pass:
    """How one pass of a tool ended: its exit code, who ended it, wall clock, CPU time.

    rc: negative for a signal. started, ended: seconds since the epoch. cpu_s: of this pass alone,
    the imports that all passes share left out. cpu_samples: moments, in seconds since the epoch,
    and how much of cpu_s was used by then.
    """

    rc: int
    ended_by: EndedBy
    started: float
    ended: float
    cpu_s: float
    cpu_samples: Sequence[tuple[float, float]] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """One command line of a tool, the folder it runs in, and where its console goes."""

    argv: tuple[str, ...]
    folder: Path
    console: Path
    limit_s: float


class Client:
    """The running client process; it does one pass at a time. environment: all that it sees."""

    def __init__(
        self, process: "subprocess.Popen[bytes]", *, environment: Mapping[str, str], log: Path
    ) -> None:
        self.environment = environment
        self._process = process
        self._log = log
        self._lines = _Lines(process)
        self._version = ""
        self.ready = False

    @property
    def lives(self) -> bool:
        """Whether its process is there, and the log that it writes."""
        return self._process.poll() is None and self._log.is_file()

    @property
    def version(self) -> str:
        """The release of the tool, known once the client is ready."""
        return self._version

    def wait_ready(self, *, limit_s: float, stopped: Callable[[], bool]) -> None:
        """Wait for the imports. Raises ClientBrokenError when they fail, take too long, or stop."""
        began = time.monotonic()
        while (line := self._lines.next(BEAT_S)) is None:
            if stopped():
                raise ClientBrokenError("stopped while the client started", log=self._log)
            if time.monotonic() - began > limit_s:
                problem = f"the client was not ready within {limit_s:.0f} s"
                raise ClientBrokenError(problem, log=self._log)
        if not line:
            raise ClientBrokenError("the client ended while it started", log=self._log)
        ready = json.loads(line)
        if not ready["ready"]:
            raise ClientBrokenError(f"cannot import {ready['problem']}", log=self._log)
        self._version = ready["version"]
        self.ready = True

    def run(self, tool: Tool, call: Call, *, stopped: Callable[[], bool]) -> Pass:
        """Run one pass of a tool and return how it ended.

        It is killed when its time is over, and when stopped() turns true.
        Raises ClientBrokenError when the client process itself is gone.
        """
        self._send(
            {
                "tool": tool.name,
                "argv": call.argv,
                "stdout": str(call.console),
                "stderr": str(call.console),
                "cwd": str(call.folder),
                "timeout_s": call.limit_s,
            }
        )
        deadline = time.monotonic() + call.limit_s + GOODBYE_S
        told = False
        while (line := self._lines.next(BEAT_S)) is None:
            if stopped() and not told:
                self._send({"stop": True})
                told, deadline = True, time.monotonic() + GOODBYE_S
            if time.monotonic() > deadline:
                raise ClientBrokenError("the client does not answer", log=self._log)
        if not line:
            raise ClientBrokenError("the client process is gone", log=self._log)
        return Pass(**json.loads(line))

    def _send(self, command: Mapping[str, object]) -> None:
        stream = self._process.stdin
        if stream is None:
            raise ClientBrokenError("the client takes no commands", log=self._log)
        try:
            stream.write(json.dumps(command).encode() + b"\n")
            stream.flush()
        except OSError as error:
            raise ClientBrokenError(f"the client process is gone: {error}", log=self._log) from None


@contextmanager
def client(
    python: Path,
    tools: Sequence[Tool],
    *,
    environment: Mapping[str, str],
    log: Path,
) -> Iterator[Client]:
    """Start the client with the client environment's Python; on leaving, no process is left.

    tools: imported once, while the caller goes on; see Client.wait_ready. environment: all that
    the client sees.
    """
    command = [str(python), str(INSIDE)]
    command += [f"{tool.name}={','.join(tool.modules)}" for tool in tools]
    with log.open("ab") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=output,
            env=dict(environment),
            start_new_session=True,
        )
    started = Client(process, environment=environment, log=log)
    try:
        yield started
    finally:
        _end(process, patience_s=GOODBYE_S if started.ready else 0.0)


def client_environment(variables: Mapping[str, str], *, home: Path) -> dict[str, str]:
    """Return all that a measured client sees: a short list of the runner's own, and fixed ones.

    home: a folder of this launch, so that what a tool caches there is never of another one.
    """
    passed_on = {name: variables[name] for name in PASSED_ON if name in variables}
    return passed_on | {
        "HOME": str(home),
        "HF_HUB_OFFLINE": "1",
        "NO_PROXY": "*",
        "OMP_NUM_THREADS": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONUNBUFFERED": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }


def tail(log: Path, *, lines: int = LOG_TAIL_LINES, reach_bytes: int = 20_000) -> str:
    """Return the last lines of a log that are not empty; '(no log)' where there is none."""
    if not log.is_file():
        return "(no log)"
    with log.open("rb") as stream:
        stream.seek(max(0, log.stat().st_size - reach_bytes))
        text = stream.read().decode(errors="replace")
    return "\n".join([line for line in text.splitlines() if line.strip()][-lines:])


class _Lines:
    """The lines a process writes, waited for with a limit."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        if process.stdout is None:
            raise ValueError("the process was started without a pipe to read from")
        self._descriptor = process.stdout.fileno()
        self._buffer = b""
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._descriptor, selectors.EVENT_READ)

    def next(self, limit_s: float) -> bytes | None:
        """Return one line, b'' when the process has closed its end, None when time is up."""
        while b"\n" not in self._buffer:
            if not self._selector.select(limit_s):
                return None
            chunk = os.read(self._descriptor, 65536)
            if not chunk:
                return b""
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line


def _end(process: "subprocess.Popen[bytes]", *, patience_s: float) -> None:
    """End the client: the end of its stdin is its sign to kill its child and go.

    patience_s: how long it may take; while it imports it hears nothing, and is given no time.
    """
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()
    try:
        process.wait(patience_s)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(GOODBYE_S)
    if process.stdout is not None:
        process.stdout.close()
