"""The processes as an operator starts them."""

import os
import re
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from service.admin.__main__ import main as administer
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
    empty_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("KUNLINE_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("KUNLINE_DATABASE_URL", empty_url)

    def admin(*words: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["kunline", *words])
        return administer(), capsys.readouterr().out

    _, brought = admin("db", "migrate")
    _, made = admin("token", "create", "ann", "--scope", "admin", "--days", "30")
    again, _ = admin("token", "create", "ann", "--scope", "read")
    ended, _ = admin("token", "revoke", "ann")
    _, shown = admin("token", "list")

    newest = max(path.name for path in (ROOT / "migrations/versions").glob("*.py"))
    assert f"schema: empty → {newest.split('_')[3]}" in brought
    assert made.startswith("kl_")
    assert (again, ended) == (2, 0)
    assert re.search(r"ann  admin  revoked [\d-]+ \d\d:\d\d UTC", shown)
    assert made.strip() not in shown


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
    assert refused.stderr.splitlines()[-1].startswith("kunline: the database does not answer: ")
    assert "secret" not in refused.stderr


def test_tokens_of_a_database_that_is_not_there_make_none_and_say_how(
    empty_url: str, tmp_path: Path
) -> None:
    refused = run("service.admin", "token", "list", place=tmp_path, KUNLINE_DATABASE_URL=empty_url)

    assert (refused.returncode, refused.stdout) == (2, "")
    assert "kunline db migrate" in refused.stderr
    assert list(tmp_path.rglob("*.db")) == []


def test_tokens_are_made_where_a_plain_up_keeps_them_or_where_it_was_told_to(
    tmp_path: Path,
) -> None:
    plain, told = tmp_path / "home/kunline", tmp_path / "told"
    outside = {"XDG_DATA_HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT)}

    def admin(*words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "service.cli", *words],
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), **outside},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )

    missing = admin("token", "list")
    for folder in ([], ["--data-dir", str(told)]):
        admin("db", "migrate", *folder)
    made = [
        admin("token", "create", "ci", "--scope", "run", *folder)
        for folder in ([], ["--data-dir", str(told)])
    ]

    assert f"no database {plain / 'kunline.db'}" in missing.stderr
    assert [each.returncode for each in made] == [0, 0]
    assert f"database: {plain / 'kunline.db'}" in made[0].stderr
    assert f"database: {told / 'kunline.db'}" in made[1].stderr
    assert sorted(tmp_path.rglob("kunline.db")) == [plain / "kunline.db", told / "kunline.db"]


def test_the_help_of_a_verb_is_its_own_and_names_its_options(tmp_path: Path) -> None:
    shown = run("service.cli", "token", "rotate", "--help", place=tmp_path)

    assert shown.returncode == 0
    assert shown.stdout.startswith("usage: kunline token rotate")
    assert all(f"--{name}" in shown.stdout for name in ("days", "grace-hours", "data-dir"))
