"""The processes as an operator starts them."""

import os
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.integration.databases import free_port, wait_for_port

ROOT = Path(__file__).parents[2]

TIMEOUT_S = 60


def run(
    module: str, *words: str, place: Path, **environment: str
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", module, *words],
        env={**os.environ, "KUNLINE_DATA_DIR": str(place), **environment},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


def test_the_api_does_not_listen_beyond_this_machine_while_no_token_is_stored(
    tmp_path: Path,
) -> None:
    refused = run("service.api", place=tmp_path, KUNLINE_HOST="0.0.0.0")  # noqa: S104 — it is the refusal that is tested

    assert refused.returncode == 2
    assert "kunline token create NAME --scope admin" in refused.stderr


@pytest.mark.postgres
def test_the_api_does_not_begin_on_a_database_of_another_schema(
    empty_url: str, tmp_path: Path
) -> None:
    if empty_url.startswith("sqlite"):
        pytest.skip("an embedded database is brought up by itself")

    refused = run("service.api", place=tmp_path, KUNLINE_DATABASE_URL=empty_url)

    assert refused.returncode == 2
    assert "kunline db migrate" in refused.stderr


def test_an_operator_brings_a_database_up_and_makes_shows_and_ends_a_token(
    empty_url: str, tmp_path: Path
) -> None:
    def admin(*words: str) -> "subprocess.CompletedProcess[str]":
        return run("service.admin", *words, place=tmp_path, KUNLINE_DATABASE_URL=empty_url)

    brought = admin("migrate")
    made = admin("token", "create", "ann", "--scope", "admin", "--days", "30")
    again = admin("token", "create", "ann", "--scope", "read")
    ended = admin("token", "revoke", "ann")
    shown = admin("token", "list")

    newest = max(path.name for path in (ROOT / "migrations/versions").glob("*.py"))
    assert f"schema: empty → {newest.split('_')[3]}" in brought.stdout
    assert made.stdout.startswith("kl_")
    assert (again.returncode, ended.returncode) == (2, 0)
    assert "ann  admin  revoked" in shown.stdout
    assert made.stdout.strip() not in shown.stdout


def test_two_processes_serve_one_embedded_database_and_end_when_told(tmp_path: Path) -> None:
    port = free_port()
    environment = {
        **os.environ,
        "KUNLINE_DATA_DIR": str(tmp_path),
        "KUNLINE_PORT": str(port),
        "KUNLINE_WORKERS": "2",
    }
    server = subprocess.Popen([sys.executable, "-m", "service.api"], env=environment)
    try:
        wait_for_port(port)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=TIMEOUT_S) as answer:
            ready = answer.read()
    finally:
        server.terminate()
        server.wait(TIMEOUT_S)

    assert b'"ready":true' in ready


def test_a_port_that_is_taken_is_said_in_a_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = run("service.api", place=tmp_path, KUNLINE_PORT=str(port))

    assert refused.returncode == 1
    assert refused.stderr.startswith(f"kunline: cannot listen at 127.0.0.1:{port}: Address already")
    assert refused.stderr.count("\n") == 1


@pytest.mark.parametrize("words", [["service.api"], ["service.admin", "token", "list"]])
def test_a_database_that_is_away_is_said_in_a_sentence(words: list[str], tmp_path: Path) -> None:
    nowhere = f"postgresql://ann:secret@127.0.0.1:{free_port()}/kunline"

    refused = run(*words, place=tmp_path, KUNLINE_DATABASE_URL=nowhere)

    assert refused.returncode == 1
    assert refused.stderr.startswith("kunline: the database does not answer: ")
    assert "secret" not in refused.stderr


def test_tokens_of_a_database_without_a_schema_bring_it_up_or_say_how(
    empty_url: str, tmp_path: Path
) -> None:
    shown = run("service.admin", "token", "list", place=tmp_path, KUNLINE_DATABASE_URL=empty_url)

    if empty_url.startswith("sqlite"):
        assert (shown.returncode, shown.stderr) == (0, "")
    else:
        assert shown.returncode == 2
        assert "kunline db migrate" in shown.stderr
