"""What end-to-end tests of several modules are given."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.production import Stage, service_client
from tests.integration.databases import free_port

# What a site of many hosts spares its service, a test of one does not wait for.
AT_ONCE = {"KUNLINE_POLL_S": "0.5", "KUNLINE_SWEEP_EVERY_S": "1"}


@contextmanager
def serving(folder: Path) -> Iterator[Stage]:
    """Start the service as `kunline up` does, a runner beside it, in a folder of its own.

    Another runner of this machine may go on beside it.
    """
    port = free_port()
    own = {"KUNLINE_URL": f"http://127.0.0.1:{port}", "KUNLINE_LOCK_DIR": str(folder / "locks")}
    stage = Stage(folder, {**own, **AT_ONCE})
    words = ("up", "--runner", "--port", str(port), "--data-dir", str(folder / "data"))
    stage.module("up", "service.cli", *words)
    try:
        with service_client(port):
            yield stage
    finally:
        stage.stop()


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[Stage]:
    """Give such a service to one test."""
    with serving(tmp_path) as stage:
        yield stage
