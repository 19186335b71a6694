"""What every test may rely on: no socket leaves this machine, and unit tests open none."""

import os
from pathlib import Path

import pytest
from hypothesis import settings
from pytest_socket import disable_socket, socket_allow_hosts

UNIT = Path(__file__).parent / "unit"
LOOPBACK = ["127.0.0.1", "::1", "localhost"]

# CI tries the same examples each time: what it finds new belongs to a developer's machine.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")


@pytest.fixture(autouse=True)
def _stays_on_this_machine(request: pytest.FixtureRequest) -> None:
    if UNIT in request.path.parents:
        disable_socket(allow_unix_socket=True)
    else:
        socket_allow_hosts(LOOPBACK, allow_unix_socket=True)
