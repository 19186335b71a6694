"""A stack's server, from its start to the end of its last process."""

import http.client
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

from runners.stacks.build_step import Progress
from runners.stacks.death import death
from runners.stacks.kept import Kept, kept, tail
from runners.stacks.server_log import complaint, suggested_layer
from service.domain.layer import Layer
from service.domain.server_arguments import Arguments, command_line
from service.domain.server_environment import VISIBLE
from service.formats.known_failures import remedy_of

LOOPBACK = "127.0.0.1"

# What a server may see of the runner's own environment. Anything else could change what is
# measured without being part of its condition or its stack.
_INHERITED = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_LIBRARY_PATH")
# Of those, what decides which libraries run.
_MAY_MATTER = ("LD_LIBRARY_PATH",)
_OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "PYTHONUNBUFFERED": "1"}

_POLL_S = 0.25
_HEALTH_LIMIT_S = 5.0
_OK = 200

# A server on this machine is never behind a proxy, whatever the environment says.
_open = build_opener(ProxyHandler({})).open


NOTHING_KNOWN = "nothing known stands in the log's end: read the whole log, then the kernel's"


class ServerError(RuntimeError):
    """The server did not come up, or is gone; layer is what its log suggests."""

    def __init__(self, what: str, *, log: Path) -> None:
        end = tail(log, lines=40)
        self.layer: Layer = suggested_layer(end)
        self.remedy = remedy_of(complaint(end), NOTHING_KNOWN)
        self.log = log
        super().__init__(f"{what}; the whole log is {log}\n{end}\n{death(end)}")


@dataclass(frozen=True, slots=True)
class Launch:
    """One server process to be: which Python, which model, which arguments and variables.

    arguments, variables: complete, from condition, stack and device together, without what is local
    to a host, which is added here. log: a file of this launch alone. program: what starts a server
    in place of sglang.launch_server, by the same words.
    """

    python: Path
    model: Path
    served_name: str
    arguments: Arguments
    variables: Mapping[str, str]
    log: Path
    random_seed: int = 1
    program: Path | None = None


@dataclass(frozen=True, slots=True)
class Server:
    """A server that answers: where, its process id, its log, how long it took to come up."""

    base_url: str
    pid: int
    log: Path
    started_seconds: float
    process: Kept = field(repr=False)

    def require_alive(self) -> None:
        """Raise ServerError when the server is gone."""
        if self.process.exit_code is not None:
            raise ServerError(f"the server ended with {self.process.exit_code}", log=self.log)


@contextmanager
def serving(
    launch: Launch,
    *,
    inherited: Mapping[str, str],
    start_limit_s: float,
    stop_limit_s: float = 30.0,
    progress: Progress | None = None,
) -> Iterator[Server]:
    """Bring a server up on a free port of the loopback, and take it down with all it started.

    inherited: the runner's own environment, of which little is passed on. start_limit_s: until
    /health answers. stop_limit_s: from TERM to KILL.
    Raises ServerError when it dies or is not healthy in time.
    """
    port = free_port()
    base_url = f"http://{LOOPBACK}:{port}"
    begun = time.monotonic()
    with kept(
        server_command(launch, port=port),
        environment=server_environment(launch, inherited),
        log=launch.log,
        grace_s=stop_limit_s,
    ) as process:
        _until_healthy(process, base_url, limit_s=start_limit_s, progress=progress)
        server = Server(base_url, process.pid, launch.log, time.monotonic() - begun, process)
        # Somebody else may have taken the port meanwhile, and be the one who answers.
        server.require_alive()
        yield server


def server_command(launch: Launch, *, port: int) -> list[str]:
    """Return the words that start a launch's server."""
    return [
        *_program(launch),
        *("--model-path", str(launch.model), "--served-model-name", launch.served_name),
        *("--host", LOOPBACK, "--port", str(port), "--random-seed", str(launch.random_seed)),
        *command_line(launch.arguments),
    ]


def _program(launch: Launch) -> list[str]:
    if launch.program is not None:
        return [str(launch.program)]
    return [str(launch.python), "-m", "sglang.launch_server"]


def server_environment(launch: Launch, inherited: Mapping[str, str]) -> dict[str, str]:
    """Return all that a launch's server sees: a little of the runner's, then its own variables."""
    passed_on = {name: inherited[name] for name in _INHERITED if name in inherited}
    return {**passed_on, **_OFFLINE, **launch.variables}


def inherited(launch: Launch, variables: Mapping[str, str]) -> Mapping[str, str]:
    """Return what a server sees of the runner's own environment that may change its speed.

    It is neither of the stack nor of the condition, so it is recorded.
    """
    return {
        name: variables[name]
        for name in _MAY_MATTER
        if name in variables and name not in launch.variables
    }


def on_cards(asked: Mapping[str, str], chosen: Mapping[str, str]) -> Mapping[str, str]:
    """Return a server's variables: those asked for, on the cards that a lease chose.

    Which cards it sees follows from the lease alone, whatever a stack file says.
    """
    return {**chosen, **asked, **{name: chosen[name] for name in VISIBLE if name in chosen}}


def free_port() -> int:
    """Return a port of the loopback that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def _until_healthy(
    process: Kept, base_url: str, *, limit_s: float, progress: Progress | None
) -> None:
    begun = time.monotonic()
    while not _healthy(base_url):
        waited = time.monotonic() - begun
        if process.exit_code is not None:
            raise ServerError(f"the server ended with {process.exit_code}", log=process.log)
        if waited >= limit_s:
            raise ServerError(f"the server was not healthy after {limit_s:.0f} s", log=process.log)
        if progress is not None:
            progress(f"waiting for the server, {waited:.0f} s", None)
        time.sleep(_POLL_S)


def _healthy(base_url: str) -> bool:
    try:
        with _open(f"{base_url}/health", timeout=_HEALTH_LIMIT_S) as answer:
            return bool(answer.status == _OK)
    except (URLError, OSError, http.client.HTTPException):
        return False
