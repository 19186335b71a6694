"""The compatibility table of real SGLang: two releases, a broken stack and one that drifted."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from service.client import Client
from service.domain.stack import Component, Stack
from service.formats.matrix_files import Matrix, read_matrix
from service.formats.planned_sessions import SessionUpload, plan_session, session_upload
from service.formats.sessions import SessionOrder
from tests.e2e.production import ROOT, Stage, service_client, wait_until
from tests.integration.databases import free_port

pytestmark = [pytest.mark.sglang, pytest.mark.redis, pytest.mark.timeout(1200)]

OLD, NEW = "cpu-sglang-0.5.18", "cpu-sglang-0.5.23"
# A package of that name, found before the installed one: whoever imports it breaks.
WRONG = 'raise ImportError("cannot import name AutoProcessor from transformers 4.0.0")\n'
MEASURED_S = 1000
# The largest load of the plan: its one cell's concurrency.
SATURATED = 2
STACK = TypeAdapter(Stack)


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[tuple[Stage, Client]]:
    port = free_port()
    stage = Stage(tmp_path, {"KUNLINE_URL": f"http://127.0.0.1:{port}", "KUNLINE_POLL_S": "0.5"})
    words = ("up", "--runner", "--port", str(port), "--data-dir", str(tmp_path / "data"))
    stage.module("up", "service.cli", *words)
    try:
        with service_client(port) as client:
            yield stage, client
    finally:
        stage.stop()


@pytest.fixture
def matrix(tmp_path: Path) -> Matrix:
    """Copy the matrix, and add a stack whose server finds a wrong transformers first."""
    root = tmp_path / "matrix"
    shutil.copytree(ROOT / "matrix", root)
    wrong = tmp_path / "wrong/transformers/__init__.py"
    wrong.parent.mkdir(parents=True)
    wrong.write_text(WRONG)
    text = (root / f"stacks/{NEW}.yaml").read_text().replace(f"name: {NEW}", "name: cpu-wrong")
    found = f'environment: {{PYTHONPATH: "{wrong.parent.parent}"}}'
    changed = text.replace("environment: {}", found)
    (root / "stacks/cpu-wrong.yaml").write_text(changed)
    return read_matrix(root)


def test_the_table_is_right_in_every_cell_and_the_advisor_with_it(
    embedded: tuple[Stage, Client], matrix: Matrix
) -> None:
    stage, client = embedded
    plan = matrix.plans.named("smoke")
    uploads = [
        session_upload(plan_session(matrix, plan, stacks=names))
        for names in ([OLD, NEW], ["cpu-wrong"])
    ]
    drifted = drifting(session_upload(plan_session(matrix, plan, stacks=[OLD])))
    measure(client, [*uploads, drifted])
    kunline(stage, "baseline", "pin", OLD, "--why", "the older one", "--json")

    _, told = kunline(stage, "compat", "show", "--format", "json")

    lines = {line["stack_name"]: line for line in told}
    assert lines[OLD]["state"] == "works", stage.log("up")
    assert lines[NEW]["state"] in {"works", "works, regressed"}
    assert lines[NEW]["told"]["kv_tokens"] > 0
    assert lines[NEW]["told"]["distance"] is not None
    assert lines[NEW]["told"]["loaded_concurrency"] == SATURATED
    assert lines[NEW]["told"]["loaded_distance"] is not None
    assert lines["cpu-wrong"]["state"] == "broken"
    assert "AutoProcessor" in lines["cpu-wrong"]["told"]["chief"]["finding"]
    assert (lines["drifted"]["state"], lines["drifted"]["told"]["chief"]["layer"]) == (
        "broken",
        "packages",
    )
    assert "transformers" in lines["drifted"]["told"]["chief"]["finding"]
    assert answer(stage, "cpu-wrong") == (5, "no")
    assert answer(stage, NEW)[0] in {0, 3, 4}


def measure(client: Client, uploads: Sequence[SessionUpload]) -> None:
    """Order sessions one behind the other, and wait for the last of them."""
    ordered = []
    for upload in uploads:
        for content in upload.artefacts.values():
            client.put_artefact(content)
        session = client.submit(upload.order, idempotency_key=os.urandom(8).hex())
        ordered.append(session.id)
    wait_until(
        lambda: all(client.session(each).state == "finished" for each in ordered),
        MEASURED_S,
        "all sessions are measured",
    )


def drifting(upload: SessionUpload) -> SessionUpload:
    """Return a session of a stack that says to have another transformers than it installs."""
    (asked,) = upload.order.stacks
    parts = tuple(
        replace(part, version="4.0.0") if part.name == "transformers" else part
        for part in asked.stack.components
    )
    stack = other(asked.stack, parts)
    told = upload.order.model_dump(mode="json")
    told["stacks"] = [
        {**asked.model_dump(mode="json"), "key": stack.key, "stack": _document(stack)}
    ]
    for launch in told["launches"]:
        launch["stack_key"] = stack.key
    order = SessionOrder.model_validate_json(json.dumps(told))
    return SessionUpload(order, upload.artefacts)


def other(stack: Stack, parts: tuple[Component, ...]) -> Stack:
    return replace(stack, name="drifted", components=parts)


def _document(stack: Stack) -> Any:
    return STACK.dump_python(stack, mode="json")


def answer(stage: Stage, to: str) -> tuple[int, str]:
    code, told = kunline(stage, "compat", "check", "--from", OLD, "--to", to, "--json")
    return code, told["answer"]


def kunline(stage: Stage, *words: str) -> tuple[int, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "service.cli", *words],
        cwd=ROOT,
        env={**os.environ, **stage.environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)
