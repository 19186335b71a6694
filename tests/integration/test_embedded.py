"""The embedded service, as a person starts and asks it: odd folders, short keys, clear refusals."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.production import ROOT, Stage, service_client
from tests.integration.databases import free_port

pytestmark = pytest.mark.redis


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    port, folder = free_port(), tmp_path / 'a "quoted" folder'
    stage = Stage(tmp_path, {})
    words = ("up", "--port", str(port), "--data-dir", str(folder))
    stage.module("up", "service.cli", *words)
    try:
        with service_client(port):
            yield f"http://127.0.0.1:{port}"
    finally:
        stage.stop()


@pytest.mark.parametrize(
    ("key", "said"),
    [
        pytest.param("no/key", "stack_key", id="neither a key nor a name"),
        pytest.param("nothex", "no stack nothex is stored", id="a name that no stack has"),
        pytest.param("d4c1dd424d1b", "d4c1dd424d1b", id="the first digits of one nobody stored"),
    ],
)
def test_a_pin_of_what_is_not_there_is_a_sentence_in_a_folder_of_any_name(
    url: str, key: str, said: str
) -> None:
    answered = subprocess.run(
        [sys.executable, "-m", "service.cli", "baseline", "pin", key, "--why", "x", "--url", url],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert answered.returncode == 2
    assert said in answered.stderr
    assert "Traceback" not in answered.stderr
