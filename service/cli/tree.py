"""The embedded service: broker, API, worker, scheduler and a runner in one process tree."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from service.cli.broker import embedded, free_port
from service.cli.processes import Child, ChildGaveUpError, Tree, module
from service.client import Client, connected

READY_LIMIT_S = 90.0
READY_POLL_S = 0.2
# The pool of plans that are for whatever machine one sits at.
LOCAL_POOL = "local"


@dataclass(frozen=True, slots=True)
class Embedded:
    """A running embedded service."""

    url: str
    tree: Tree
    data_dir: Path


def data_home() -> Path:
    """Return where an embedded service keeps its database and artefacts unless told otherwise."""
    base = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local/share")
    return Path(base) / "kunline"


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
        "KUNLINE_DATABASE_URL": f"sqlite:///{data_dir / 'kunline.db'}",
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
    if runner:
        tree.start(
            Child(
                "runner",
                module("runners.worker"),
                _runner(url, broker.url, data_dir),
                data_dir / "runner.log",
            )
        )
    return Embedded(url, tree, data_dir)


def _runner(url: str, broker_url: str, data_dir: Path) -> dict[str, str]:
    return {
        "KUNLINE_URL": url,
        "KUNLINE_BROKER_URL": broker_url,
        "KUNLINE_SPOOL_DIR": str(data_dir / "spool"),
        "KUNLINE_POOL": LOCAL_POOL,
    }


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
