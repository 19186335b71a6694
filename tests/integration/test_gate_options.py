"""What `kunline gate` is told and would not look at is refused, before anything is asked."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from service.cli.main import main

NOWHERE = ("--url", "http://127.0.0.1:9", "--patience", "1s")
ASKED = ("--plan", "pr-cpu", "--base", "stack:cpu-sglang-0.5.23", "--stack", "cpu-sglang-0.5.18")
ANOTHER = "00000000-0000-0000-0000-000000000000"


def gate(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["gate", *words], terminal_width=200)
    return done.exit_code, done.stderr


@pytest.mark.parametrize(
    ("words", "refused"),
    [
        pytest.param((*ASKED, "--detach", "--answer", "a.json"), "--answer", id="an answer's file"),
        pytest.param((*ASKED, "--detach", "--github"), "--github", id="a comment"),
        pytest.param(("--attach", ANOTHER, "--budget", "20m"), "--budget", id="another question"),
        pytest.param((*ASKED, "--data-dir", "x"), "--data-dir", id="a folder of a local gate"),
        pytest.param(
            (*ASKED, "--local", *NOWHERE), "--patience", id="a service beside a local one"
        ),
        pytest.param((*ASKED, "--merge-base", "HEAD"), "--merge-base", id="two bases"),
    ],
)
def test_what_would_be_passed_over_is_refused_by_its_name(
    words: tuple[str, ...], refused: str
) -> None:
    code, told = gate(*words)

    assert code == 2
    assert refused in told


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("--plan", "no-such-plan"), id="a plan"),
        pytest.param(("--with", "sglang=./no-such-*.whl"), id="a pattern without a wheel"),
        pytest.param(("--stack", "no-such-stack"), id="a stack"),
        pytest.param(("--base", "main"), id="a base"),
        pytest.param((), id="no candidate"),
    ],
)
def test_a_local_gate_says_what_is_wrong_before_it_starts_a_service(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    begun = ("--plan", "pr-cpu", "--local", "--data-dir", str(tmp_path / "data"))

    code, told = gate(*begun, *words)

    assert code == 2, told
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("words", "named"),
    [
        pytest.param(("--webhook", "https://example.org/x"), "KUNLINE_WEBHOOK_SECRET", id="secret"),
        pytest.param(("--github", "--repository", "o/n"), "GITHUB_TOKEN", id="a token"),
        pytest.param(("--gitee",), "--repository", id="a repository"),
        pytest.param(("--github-actions",), "GITHUB_STEP_SUMMARY", id="a workflow"),
    ],
)
def test_what_cannot_be_sent_is_said_first_and_refused_where_it_must_arrive(
    words: tuple[str, ...], named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in ("GITHUB_TOKEN", "KUNLINE_GITHUB_TOKEN", "GITHUB_STEP_SUMMARY", "GITHUB_ACTIONS"):
        monkeypatch.delenv(each, raising=False)
    words = (*words, "--commit", "a" * 40)

    must, told = gate(*ASKED, *NOWHERE, *words, "--must-deliver")
    may, said = gate(*ASKED, *NOWHERE, *words)

    assert (must, may) == (2, 1), "without --must-deliver the service is asked, and is away"
    assert named in told
    assert named in said
    assert "asking again in" in said, "patience covers the first call as well"


def test_a_file_that_cannot_be_written_is_refused_and_nothing_is_created(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    code, told = gate(*ASKED, *NOWHERE, "--answer", str(tmp_path / "file" / "answer.json"))
    fine, _ = gate(*ASKED, *NOWHERE, "--answer", str(tmp_path / "new" / "answer.json"))

    assert (code, fine) == (2, 1)
    assert "is no folder" in told
    assert not (tmp_path / "new").exists()
