"""What end-to-end tests of several modules are given."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.production import Stage, service_client
from tests.integration.databases import free_port


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[Stage]:
    """Give the service as `kunline up` starts it, a runner beside it, in a folder of its own."""
    port = free_port()
    stage = Stage(tmp_path, {"KUNLINE_URL": f"http://127.0.0.1:{port}"})
    words = ("up", "--runner", "--port", str(port), "--data-dir", str(tmp_path / "data"))
    stage.module("up", "service.cli", *words)
    try:
        with service_client(port):
            yield stage
    finally:
        stage.stop()
