"""`kunline gate report`: it ends as the gate did, whatever arrived, unless it must deliver."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from service.cli.gate import gates
from service.formats.gate_answers import GateAnswer
from tests.gate_answers import KINDS, regressed
from tests.odd_gate_answers import hostile

IN_NO_WORKFLOW = {"GITHUB_STEP_SUMMARY": "", "GITHUB_REPOSITORY": "", "GITHUB_EVENT_PATH": ""}


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """Return the path of a stored answer that says regressed."""
    path = tmp_path / "answer.json"
    path.write_text(regressed().model_dump_json())
    return path


def report(path: Path, *options: str) -> tuple[int, str, str]:
    """Run the command and return its exit code, stdout and stderr."""
    done = CliRunner().invoke(gates, ["report", str(path), *options], env=IN_NO_WORKFLOW)
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_it_ends_as_the_gate_did(kind: str, tmp_path: Path) -> None:
    (tmp_path / "answer.json").write_text(KINDS[kind]().model_dump_json())

    assert report(tmp_path / "answer.json")[0] == KINDS[kind]().exit_code


def test_it_prints_one_json_document(stored: Path) -> None:
    code, out, _ = report(stored, "--json")

    assert code == 3
    assert GateAnswer.model_validate_json(out) == regressed()


def test_with_json_even_annotations_leave_stdout_alone(stored: Path, tmp_path: Path) -> None:
    summary = {**IN_NO_WORKFLOW, "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
    words = ["report", str(stored), "--json", "--github-actions"]
    done = CliRunner().invoke(gates, words, env=summary)

    assert json.loads(done.stdout)["outcome"] == "regressed"
    assert "::error " in done.stderr


def test_what_is_not_delivered_is_said_and_changes_nothing(stored: Path) -> None:
    code, out, err = report(stored, "--github-actions")

    assert code == 3
    assert "not delivered: step summary: GITHUB_STEP_SUMMARY is not set" in err
    assert "not delivered" not in out


def test_what_must_be_delivered_ends_with_1_and_still_tells_the_verdict(stored: Path) -> None:
    code, out, err = report(stored, "--github-actions", "--must-deliver")

    assert code == 1
    assert "not delivered: step summary; this ends with 1 for --must-deliver" in err
    assert "the gate itself is regressed (3)" in err
    assert out.startswith("Kunline gate: regressed\n")


def test_a_failure_keeps_no_other_delivery_from_its_place(stored: Path, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    report(stored, "--markdown", str(tmp_path / "folder"), "--junit", str(tmp_path / "a.xml"))

    assert (tmp_path / "a.xml").is_file()


def test_a_stored_answer_is_the_same_when_it_is_stored_again(stored: Path, tmp_path: Path) -> None:
    report(stored, "--answer", str(tmp_path / "again.json"))

    assert GateAnswer.model_validate_json((tmp_path / "again.json").read_bytes()) == regressed()


def test_it_speaks_chinese(stored: Path) -> None:
    assert report(stored, "--lang", "zh")[1].startswith("Kunline 门禁：退化\n")


def test_a_hostile_answer_prints_no_line_that_commands(tmp_path: Path) -> None:
    (tmp_path / "answer.json").write_text(hostile().model_dump_json())
    _, out, err = report(tmp_path / "answer.json", "--github")

    assert not any(line.lstrip().startswith("::") for line in (out + err).splitlines())
    assert "\x1b" not in out + err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(None, "cannot read", id="no file"),
        pytest.param("{}", "is no answer of `kunline gate`: id: Field required", id="another's"),
        pytest.param("half of {", "is no answer of `kunline gate`: the whole: ", id="no JSON"),
    ],
)
def test_what_is_no_answer_is_wrong_usage(
    content: str | None, message: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / "answer.json").write_text(content)
    code, _, err = report(tmp_path / "answer.json")

    assert code == 2
    assert message in err


def test_two_forges_at_once_are_wrong_usage(stored: Path) -> None:
    code, _, err = report(stored, "--github", "--gitee")

    assert code == 2
    assert "name one repository each" in " ".join(err.replace("│", " ").split())
