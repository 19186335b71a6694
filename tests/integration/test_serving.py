"""A server comes up on a free port and goes with all it started; stand-ins play SGLang here."""

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import httpx
import psutil
import pytest

from runners.stacks.server import Launch, ServerError, serving
from service.domain.layer import Layer

HEALTHY = """
import http.server, multiprocessing, sys, time

class Health(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if time.monotonic() - BEGUN > 0.5 else 503)
        self.end_headers()
        self.wfile.write(" ".join(sys.argv[1:]).encode())

BEGUN = time.monotonic()
port = int(sys.argv[sys.argv.index("--port") + 1])
multiprocessing.Process(target=time.sleep, args=(300,)).start()
http.server.HTTPServer(("127.0.0.1", port), Health).serve_forever()
"""
DIES = "raise ModuleNotFoundError(\"No module named 'sgl_kernel'\")"
HANGS = "import time; time.sleep(300)"


def launch(folder: Path, program: str, variables: Mapping[str, str] | None = None) -> Launch:
    package = folder / "sglang"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "launch_server.py").write_text(program)
    return Launch(
        python=Path(sys.executable),
        model=folder,
        served_name="stand-in",
        arguments={"tp-size": 1},
        variables={"PYTHONPATH": str(folder), **(variables or {})},
        log=folder / "server.log",
    )


def test_it_is_there_while_asked_for_and_gone_with_its_children_after(tmp_path: Path) -> None:
    with serving(launch(tmp_path, HEALTHY), inherited=os.environ, start_limit_s=30) as server:
        words = httpx.get(f"{server.base_url}/health", trust_env=False).text
        processes = [psutil.Process(server.pid), *psutil.Process(server.pid).children()]
        server.require_alive()

    assert "--tp-size 1" in words
    assert server.started_seconds > 0.5
    assert len(processes) == 2
    assert [process for process in processes if process.is_running()] == []


def test_an_early_death_has_its_layer_and_its_last_words(tmp_path: Path) -> None:
    begun = time.monotonic()
    with (
        pytest.raises(ServerError, match="No module named 'sgl_kernel'") as caught,
        serving(launch(tmp_path, DIES), inherited=os.environ, start_limit_s=60),
    ):
        pass

    assert caught.value.layer is Layer.PLUGIN
    assert time.monotonic() - begun < 30


def test_one_that_is_never_healthy_is_given_up_and_ended(tmp_path: Path) -> None:
    with (
        pytest.raises(ServerError, match="not healthy after 1 s"),
        serving(launch(tmp_path, HANGS), inherited=os.environ, start_limit_s=1.0),
    ):
        pass

    assert [
        process for process in psutil.process_iter() if str(tmp_path) in words_of(process)
    ] == []


def words_of(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def test_a_death_in_service_is_noticed(tmp_path: Path) -> None:
    with serving(launch(tmp_path, HEALTHY), inherited=os.environ, start_limit_s=30) as server:
        psutil.Process(server.pid).kill()
        server.process.wait(20)

        with pytest.raises(ServerError, match="ended with 137"):
            server.require_alive()
