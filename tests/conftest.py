"""What every test may rely on: no socket leaves this machine, and unit tests open none."""

from pathlib import Path

import pytest
from pytest_socket import disable_socket, socket_allow_hosts

UNIT = Path(__file__).parent / "unit"
LOOPBACK = ["127.0.0.1", "::1", "localhost"]


@pytest.fixture(autouse=True)
def _stays_on_this_machine(request: pytest.FixtureRequest) -> None:
    if UNIT in request.path.parents:
        disable_socket(allow_unix_socket=True)
    else:
        socket_allow_hosts(LOOPBACK, allow_unix_socket=True)
