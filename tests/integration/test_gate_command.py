"""`kunline gate` as a pipeline calls it, against a service whose runner is played by the test."""

import json
import subprocess
from pathlib import Path

import pytest
from sqlalchemy import Engine

from service.formats.gate_answers import GateAnswer
from tests.integration.gate_cli import kunline, measure
from tests.integration.serving import application, served
from tests.made_wheel import made_wheel

NOBODYS = "00000000-0000-0000-0000-000000000000"


@pytest.fixture
def url(migrated_file: Path, tmp_path: Path) -> str:
    """Give one kind of database: the other has nothing to do with a command."""
    (tmp_path / "kunline.db").write_bytes(migrated_file.read_bytes())
    return f"sqlite:///{tmp_path / 'kunline.db'}"


def gate(url: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return kunline(url, folder, "gate", *words)


def test_a_wheel_is_uploaded_measured_and_judged_and_the_exit_code_says_how(
    engine: Engine, tmp_path: Path
) -> None:
    made_wheel(tmp_path, "kunline-sglang-cpu", "0.2.0")
    asked = ("--plan", "pr-cpu", "--base", "stack:cpu-sglang-0.5.23", "--key", "run-1")
    with served(application(engine, tmp_path)) as url:
        detached = [
            gate(url, tmp_path, *asked, "--with", "kunline-sglang-cpu=./*.whl", "--detach")
            for _ in range(2)
        ]
        gate_id = detached[0].stdout.strip()
        measured = measure(engine, slower=1.3)
        ended = gate(url, tmp_path, "--attach", gate_id, "--json")

    answer = GateAnswer.model_validate(json.loads(ended.stdout))
    assert detached[1].stdout.strip() == gate_id, detached[1].stderr
    assert (ended.returncode, measured) == (3, 4)
    assert answer.candidate.overrides[0].kind == "wheel"
    assert answer.base.how == "stack"
    assert any("planned power" in note for note in answer.notes)
    assert answer.links[0].url.endswith(gate_id)


def test_what_cannot_be_gated_is_said_in_a_sentence_and_ends_with_2(
    engine: Engine, tmp_path: Path
) -> None:
    with served(application(engine, tmp_path)) as url:
        nothing = gate(url, tmp_path, "--plan", "pr-cpu", "--base", "stack:cpu-sglang-0.5.23")
        unpinned = gate(url, tmp_path, "--plan", "pr-cpu", "--stack", "cpu-sglang-0.5.18")
        away = gate("http://127.0.0.1:9", tmp_path, "--attach", NOBODYS, "--patience", "1s")

    assert (nothing.returncode, unpinned.returncode) == (2, 2)
    assert "name what is different" in nothing.stderr
    assert "kunline baseline pin" in unpinned.stderr
    assert away.returncode == 1
