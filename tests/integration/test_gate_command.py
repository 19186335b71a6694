"""`kunline gate` as a pipeline calls it, against a service whose runner is played by the test."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import Engine

from service.domain.condition import Condition
from service.formats.gate_answers import GateAnswer
from tests.e2e.production import ROOT
from tests.integration import builders, gating, path
from tests.integration.serving import application, served

WHEEL = "kunline_sglang_cpu-0.2.0-py3-none-any.whl"
NOBODYS = "00000000-0000-0000-0000-000000000000"


@pytest.fixture
def url(migrated_file: Path, tmp_path: Path) -> str:
    """Give one kind of database: the other has nothing to do with a command."""
    (tmp_path / "kunline.db").write_bytes(migrated_file.read_bytes())
    return f"sqlite:///{tmp_path / 'kunline.db'}"


def gate(url: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "service.cli", "gate", "--url", url, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def measure(engine: Engine, slower: float) -> int:
    """Do all jobs of pool local, the stack with a wheel slower by a factor."""

    def scale(stack: str, _: Condition, __: int) -> float:
        return slower if "whl." in stack else 1.0

    done = 0
    while (job := path.claim(engine, builders.claim(pool="local"))) is not None:
        gating.do_job(engine, job, scale, done)
        done += 1
    return done


def test_a_wheel_is_uploaded_measured_and_judged_and_the_exit_code_says_how(
    engine: Engine, tmp_path: Path
) -> None:
    (tmp_path / WHEEL).write_bytes(b"a wheel of some bytes")
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
