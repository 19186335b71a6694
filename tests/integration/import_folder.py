"""A folder to import from, and `kunline import` as a person calls it there."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, func, select
from typer.testing import CliRunner, Result

from service.cli.main import main
from service.store.database import reading
from service.store.tables import RunRow
from tests import results
from tests.tracked_files import ROOT

MATRIX = ROOT / "matrix"
STACK = "cpu-sglang-0.5.23"
STATED = ("--condition", "condition.yaml", "--stack", STACK)
COMMAND = (sys.executable, "-m", "service.cli", "import", "out.jsonl", *STATED)
CONDITION = """\
model: tiny-llama
served_as: tiny-llama
workload: ./measured.yaml
measured_by: {tool: sglang.bench_serving, version: 0.5.23}
cards: {model: core, form: shared, occupancy: packed}
concurrency: 8
seeds: [1]
"""
WORKLOAD = """\
name: measured
load: closed
input_tokens: 128
output_tokens: 64
prompts: 96
"""


def prepare(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with a condition file, and go there."""
    folder = place / "here"
    folder.mkdir()
    (folder / "condition.yaml").write_text(CONDITION)
    (folder / "measured.yaml").write_text(WORKLOAD)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("KUNLINE_MATRIX_DIR", str(MATRIX))
    return folder


def call(*arguments: str | Path, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)


def bring(*arguments: str | Path, stdin: bytes | None = None) -> tuple[int, dict[str, Any]]:
    """Import and return the exit code and the document."""
    found = call("import", *arguments, *STATED, "--json", stdin=stdin)
    assert found.stdout.startswith("{"), found.output
    document = json.loads(found.stdout)
    assert isinstance(document, dict)
    return found.exit_code, document


def counts(document: dict[str, Any]) -> tuple[int, int, int, int, int]:
    """Return how many were stored, duplicate, invalid, refused and unreadable."""
    stored, duplicate, invalid, refused, unreadable = (
        int(document[name]) for name in ("stored", "duplicate", "invalid", "refused", "unreadable")
    )
    return stored, duplicate, invalid, refused, unreadable


def different(number: int) -> list[dict[str, Any]]:
    """Return so many results, each with values of its own."""
    return results.scaled(*(1 + each / 100_000 for each in range(number)))


def number_of_runs(engine: Engine) -> int | None:
    with reading(engine) as session:
        return session.scalar(select(func.count()).select_from(RunRow))
