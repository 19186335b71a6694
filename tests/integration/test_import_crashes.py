"""Whoever dies in the middle of an import, the next one completes it with exact counts."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from sqlalchemy import Engine, func, select

from service.store.database import create_database, reading
from service.store.tables import ImportedRunRow
from tests import results
from tests.integration.databases import free_port
from tests.integration.import_folder import (
    COMMAND,
    bring,
    counts,
    different,
    number_of_runs,
    prepare,
)
from tests.integration.serving import application, served

START_S = 60.0


def test_a_killed_import_is_completed_by_the_next_with_exact_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: Engine
) -> None:
    here = prepare(tmp_path, monkeypatch)
    results.write(here / "out.jsonl", different(1500))
    with served(application(engine, tmp_path)) as address:
        monkeypatch.setenv("KUNLINE_URL", address)
        child = subprocess.Popen(COMMAND, start_new_session=True)
        wait_until(lambda: (number_of_runs(engine) or 0) > 0)
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        # A call that was on its way when its sender died may still be stored, whole.
        left = settled(engine)
        _, document = bring("out.jsonl")

    assert 0 < left < 1500
    assert counts(document) == (1500 - left, left, 0, 0, 0)
    assert number_of_runs(engine) == 1500


def test_a_killed_service_leaves_whole_results_and_the_rest_to_the_next_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = prepare(tmp_path, monkeypatch)
    results.write(here / "out.jsonl", different(1500))
    port, database = free_port(), f"sqlite:///{here / 'kunline.db'}"
    monkeypatch.setenv("KUNLINE_URL", f"http://127.0.0.1:{port}")
    engine = create_database(database, connections=2)
    first = started(here, port, database)
    child = subprocess.Popen(COMMAND, stderr=subprocess.DEVNULL, start_new_session=True)
    wait_until(lambda: (number_of_runs(engine) or 0) > 0)
    first.kill()
    first.wait()
    failed = child.wait(timeout=START_S)
    left = number_of_runs(engine) or 0
    second = started(here, port, database)
    try:
        _, document = bring("out.jsonl")
        with reading(engine) as session:
            whole = session.scalar(select(func.count()).select_from(ImportedRunRow))
    finally:
        second.kill()
        second.wait()
        engine.dispose()

    assert failed == 1
    assert counts(document) == (1500 - left, left, 0, 0, 0)
    assert whole == 1500


def started(here: Path, port: int, database: str) -> "subprocess.Popen[bytes]":
    """Start a service of its own process and wait until it answers."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("KUNLINE_")} | {
        "KUNLINE_DATA_DIR": str(here / "data"),
        "KUNLINE_DATABASE_URL": database,
        "KUNLINE_PORT": str(port),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "service.api"], env=env, stderr=subprocess.DEVNULL
    )
    wait_until(lambda: answers(port))
    return process


def answers(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/readyz", trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


def wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + START_S
    while not holds():
        assert time.monotonic() < until, "it did not come to pass in time"
        time.sleep(0.02)


def settled(engine: Engine) -> int:
    """Return how many runs there are once their number stays the same."""
    before, seen = -1, number_of_runs(engine) or 0
    while seen != before:
        time.sleep(0.5)
        before, seen = seen, number_of_runs(engine) or 0
    return seen
