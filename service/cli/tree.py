"""The embedded service: broker, API, worker, scheduler and a runner in one process tree."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from service.cli.broker import embedded, free_port
from service.cli.processes import Child, ChildGaveUpError, Tree, module
from service.client import Client, connected
from service.formats.data_folder import embedded_database

READY_LIMIT_S = 90.0
READY_POLL_S = 0.2
# How long a runner waits for cards that another one holds, which it says in its log; its own
# default is 30 s (docs/operations.md).
CARDS_WAIT = "KUNLINE_CARDS_WAIT_S"
CARDS_HELD = (
    "another runner of this host holds the cards: waiting for them; "
    f"{CARDS_WAIT}=600 waits up to ten minutes"
)
# The pool of plans that are for whatever machine one sits at.
LOCAL_POOL = "local"


@dataclass(frozen=True, slots=True)
class Embedded:
    """A running embedded service."""

    url: str
    tree: Tree
    data_dir: Path
    broker_url: str


@contextmanager
def embedded_service(
    data_dir: Path, *, port: int, runner: bool, say: Callable[[str], None]
) -> Iterator[Embedded]:
    """Run the whole service on SQLite and a broker child, and end it all at the end.

    port: the loopback port asked for; a free one is taken where somebody else listens there.
    Raises ChildGaveUpError when a part does not come up.
    """
    data_dir.mkdir(parents=True, exist_ok=True)
    tree = Tree(say)
    try:
        yield _started(tree, data_dir, port=free_port(port), runner=runner)
    finally:
        tree.stop()


def _started(tree: Tree, data_dir: Path, *, port: int, runner: bool) -> Embedded:
    broker = embedded(data_dir)
    url = f"http://127.0.0.1:{port}"
    shared = {
        "KUNLINE_DATA_DIR": str(data_dir),
        "KUNLINE_DATABASE_URL": embedded_database(data_dir),
        "KUNLINE_BROKER_URL": broker.url,
    }
    api = {**shared, "KUNLINE_HOST": "127.0.0.1", "KUNLINE_PORT": str(port)}
    tree.start(broker.child)
    tree.start(Child("api", module("service.api"), api, data_dir / "api.log"))
    _wait_until_ready(tree, url)
    tree.start(Child("worker", module("service.tasks.worker"), shared, data_dir / "worker.log"))
    tree.start(
        Child("scheduler", module("service.tasks.scheduler"), shared, data_dir / "scheduler.log")
    )
    started = Embedded(url, tree, data_dir, broker.url)
    if runner:
        tree.start(_runner(started))
    return started


def _runner(embedded: Embedded) -> Child:
    settings = {
        "KUNLINE_URL": embedded.url,
        "KUNLINE_BROKER_URL": embedded.broker_url,
        "KUNLINE_SPOOL_DIR": str(embedded.data_dir / "spool"),
        "KUNLINE_POOL": LOCAL_POOL,
    }
    return Child("runner", module("runners.worker"), settings, embedded.data_dir / "runner.log")


def start_runner(embedded: Embedded, client: Client, say: Callable[[str], None]) -> None:
    """Start a runner and return once it is heard of, saying where it waits for cards of others.

    The service may know runners of earlier days, so only one that was seen since counts. Raises
    ChildGaveUpError.
    """
    child, begun = _runner(embedded), datetime.now(UTC)
    log = embedded.data_dir / "runner.log"
    told_before = log.stat().st_size if log.exists() else 0
    embedded.tree.start(child)
    deadline = time.monotonic() + READY_LIMIT_S + _cards_wait_s()
    has_said = False
    while not any(runner.seen_at >= begun for runner in client.runners()):
        embedded.tree.require("runner")
        if time.monotonic() > deadline:
            raise ChildGaveUpError(f"the runner was not heard of; its log is {log}")
        if not has_said and CARDS_WAIT.encode() in log.read_bytes()[told_before:]:
            say(CARDS_HELD)
            has_said = True
        time.sleep(READY_POLL_S)


def _cards_wait_s() -> float:
    """Return how long a runner was told to wait for cards; what is no number it refuses itself."""
    try:
        return float(os.environ.get(CARDS_WAIT, "30"))
    except ValueError:
        return 0.0


def _wait_until_ready(tree: Tree, url: str) -> None:
    deadline = time.monotonic() + READY_LIMIT_S
    with connected(url, timeout_s=5.0) as client:
        while not client.ready():
            tree.require("broker")
            tree.require("api")
            if time.monotonic() > deadline:
                raise ChildGaveUpError(f"the service was not ready after {READY_LIMIT_S:.0f} s")
            time.sleep(READY_POLL_S)


def wait_for_runner(tree: Tree, client: Client, *, limit_s: float = READY_LIMIT_S) -> None:
    """Return once a runner has registered. Raises ChildGaveUpError after limit_s seconds."""
    deadline = time.monotonic() + limit_s
    while not client.runners():
        tree.require("runner")
        if time.monotonic() > deadline:
            raise ChildGaveUpError(f"the runner was not heard of after {limit_s:.0f} s")
        time.sleep(READY_POLL_S)
