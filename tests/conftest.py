"""What every test may rely on: no socket leaves this machine, and unit tests open none."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings
from pytest_socket import disable_socket, socket_allow_hosts

# A shell lets what it starts in the background ignore Ctrl-C, and so would all that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

UNIT = Path(__file__).parent / "unit"
LOOPBACK = ["127.0.0.1", "::1", "localhost"]

# How long an example takes says how busy the machine is; a test that hangs is ended anyway.
settings.register_profile("here", deadline=None)
# CI tries the same examples each time, and fewer: what is found new belongs to a developer's
# machine, which tries others every time.
settings.register_profile("ci", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("ci" if os.environ.get("CI") else "here")


@pytest.fixture(autouse=True)
def _stays_on_this_machine(request: pytest.FixtureRequest) -> None:
    if UNIT in request.path.parents:
        disable_socket(allow_unix_socket=True)
    else:
        socket_allow_hosts(LOOPBACK, allow_unix_socket=True)
