"""A gate that is stopped from outside says so, and leaves nothing in a queue behind it."""

import fcntl
import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Engine

from tests.integration.gate_cli import command, environment, kunline
from tests.integration.serving import application, served

pytestmark = pytest.mark.timeout(300)

ASKED = ("--plan", "pr-cpu", "--base", "stack:cpu-sglang-0.5.23", "--stack", "cpu-sglang-0.5.18")
HELD = "another runner of this host holds the cards"


@pytest.fixture
def url(migrated_file: Path, tmp_path: Path) -> str:
    (tmp_path / "kunline.db").write_bytes(migrated_file.read_bytes())
    return f"sqlite:///{tmp_path / 'kunline.db'}"


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        pytest.param(signal.SIGTERM, 143, id="a pipeline's end"),
        pytest.param(signal.SIGINT, 130, id="Ctrl-C"),
    ],
)
def test_a_gate_of_a_service_goes_on_and_says_how_to_find_it(
    engine: Engine, tmp_path: Path, sent: signal.Signals, code: int
) -> None:
    with served(application(engine, tmp_path)) as url:
        waiting = begun(command(url, "gate", *ASKED), tmp_path)
        assert waiting.stderr is not None
        first, no_runner = waiting.stderr.readline(), waiting.stderr.readline()
        queued = kunline(url, tmp_path, "gate", "list")
        waiting.send_signal(sent)
        _, told = waiting.communicate(timeout=60)

    gate_id = first.split()[2]
    assert waiting.returncode == code
    assert "no runner of pool local is registered" in no_runner
    assert " queued " in queued.stdout
    assert f"kunline gate --attach {gate_id}" in told


@pytest.mark.redis
def test_a_local_gate_is_cancelled_by_its_end_and_one_with_a_key_by_the_next_one(
    tmp_path: Path,
) -> None:
    with cards_held(tmp_path / "cards"):
        resumable, told = local(tmp_path, signal.SIGINT, "--key", "a")
        ended, said = local(tmp_path, signal.SIGTERM, "--answer", "answer.json")

    assert (resumable, ended) == (130, 143), said
    assert "the same --key goes on" in told
    assert "was left behind here" in said
    assert jobs(tmp_path) == {("cancelled", "cancelled")}
    assert json.loads((tmp_path / "answer.json").read_text())["state"] == "cancelled"


def local(folder: Path, sent: signal.Signals, *words: str) -> tuple[int, str]:
    """Begin a local gate, end it once its runner waits for cards, and return how that went."""
    asked = [sys.executable, "-m", "service.cli", "gate", "--local", "--data-dir", "data", *ASKED]
    waiting = begun([*asked, *words], folder)
    assert waiting.stderr is not None
    before = []
    for line in waiting.stderr:
        before.append(line)
        if HELD in line:
            break
    waiting.send_signal(sent)
    _, told = waiting.communicate(timeout=120)
    return waiting.returncode, "".join(before) + told


def begun(words: list[str], folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        words,
        cwd=folder,
        env=environment(KUNLINE_LOCK_DIR=str(folder / "cards"), KUNLINE_CARDS_WAIT_S="120"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextmanager
def cards_held(folder: Path) -> Iterator[None]:
    """Hold every core of this machine as another runner would, in the test's own folder.

    Which of them may be used here changes once the tests that measure are over.
    """
    folder.mkdir()
    with ExitStack() as held:
        for core in range(os.cpu_count() or 1):
            lock = held.enter_context((folder / f"cpu-{core}.lock").open("wb"))
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def jobs(folder: Path) -> set[tuple[str, str]]:
    """Return the states of sessions and of their jobs that lie in the local gates' database."""
    with closing(sqlite3.connect(folder / "data" / "kunline.db")) as database:
        query = "SELECT session.state, job.state FROM job JOIN session ON job.session_id=session.id"
        return set(database.execute(query))
