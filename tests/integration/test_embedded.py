"""The embedded service, as a person starts and asks it: odd folders, short keys, clear refusals."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.production import ROOT, Stage, service_client
from tests.integration.databases import free_port

pytestmark = pytest.mark.redis

FOLDER = 'a "quoted" folder'


def kunline(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "service.cli", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("embedded") / FOLDER


@pytest.fixture(scope="module")
def url(folder: Path) -> Iterator[str]:
    port = free_port()
    stage = Stage(folder.parent, {})
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
    answered = kunline("baseline", "pin", key, "--why", "x", "--url", url)

    assert answered.returncode == 2
    assert said in answered.stderr
    assert "Traceback" not in answered.stderr


def test_a_token_that_is_made_for_its_folder_opens_the_service(url: str, folder: Path) -> None:
    made = kunline("token", "create", "ci", "--scope", "run", "--data-dir", str(folder))
    without = kunline("gate", "list", "--url", url)
    by_token = kunline("gate", "list", "--url", url, "--token", made.stdout.strip())

    assert f"database: {folder / 'kunline.db'}" in made.stderr
    assert (without.returncode, by_token.returncode) == (2, 0)
    assert "--token or KUNLINE_TOKEN" in without.stderr
