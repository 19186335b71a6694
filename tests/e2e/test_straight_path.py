"""From a matrix file to verdicts and the compatibility table on real SGLang, as a person does it.

One service, embedded, measures two releases, a stack that is broken and one that drifted.
"""

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from pydantic import TypeAdapter

from service.client import Client, connected
from service.domain.stack import Stack
from service.formats.matrix_files import Matrix, read_matrix
from service.formats.planned_sessions import SessionUpload, plan_session, session_upload
from service.formats.sessions import SessionOrder
from tests.e2e.conftest import serving
from tests.e2e.production import ROOT, Stage, gone, wait_until

pytestmark = [pytest.mark.sglang, pytest.mark.redis, pytest.mark.timeout(1800)]

OLD, NEW, WRONG, DRIFTED = "cpu-sglang-0.5.18", "cpu-sglang-0.5.23", "cpu-wrong", "drifted"
JUDGED = {"output_throughput", "ttft_p50", "tpot_p50"}
VERDICTS = {0, 3, 4}
LIMIT_S = 1000
# The largest load of the plan: its one cell's concurrency.
SATURATED = 2
# Mean log-probabilities of fixed prompts: both releases compute the same model in float32.
ALIKE = 0.01
# A package of that name, found before the installed one: whoever imports it breaks.
IMPORTED = 'raise ImportError("cannot import name AutoProcessor from transformers 4.0.0")\n'
STACK = TypeAdapter(Stack)


@dataclass(frozen=True, slots=True)
class Smoked:
    """A service that has measured both releases. code, verdicts: of the command that did."""

    service: Stage
    code: int
    verdicts: Any

    def kunline(self, *words: str) -> tuple[int, Any]:
        """Run a command and return its exit code and its answer."""
        return self.service.kunline(*words)

    def runs(self) -> list[dict[str, Any]]:
        """Return the runs of both releases."""
        _, page = self.kunline("runs", "--session", self.verdicts["session_id"], "--json")
        return list(page["runs"])


@pytest.fixture(scope="module")
def smoked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Smoked]:
    with serving(tmp_path_factory.mktemp("straight")) as service:
        named = ("--stack", OLD, "--stack", NEW)
        code, verdicts = service.kunline("run", "smoke", *named, "--json", limit_s=LIMIT_S)
        smoked = Smoked(service, code, verdicts)
        service.kunline("baseline", "pin", OLD, "--why", "the older one", "--json")
        yield smoked


def test_a_plan_on_two_stacks_ends_in_verdicts_by_every_judged_metric(smoked: Smoked) -> None:
    assert smoked.code in VERDICTS, smoked.service.log("up")
    assert smoked.verdicts["finished"]
    [cell] = smoked.verdicts["cells"]
    assert cell["against"] == "control"
    assert {verdict["metric"] for verdict in cell["comparison"]["verdicts"]} == JUDGED
    runs = smoked.runs()
    assert [run["state"] for run in runs] == ["measured", "measured"]
    code, answer = smoked.kunline("compare", *(run["stack_key"] for run in runs), "--json")
    assert (code in VERDICTS, answer["comparable"]) == (True, True)


def test_it_is_stored_as_it_was_measured_and_pinned_for_a_reason(smoked: Smoked) -> None:
    _, run = smoked.kunline("runs", smoked.runs()[0]["id"], "--json")
    _, [baseline] = smoked.kunline("baseline", "show", "--json")

    assert len(run["seeds"]) == len(run["values"]["ttft_p50"]) == 2
    assert all(value > 0 for values in run["values"].values() for value in values)
    assert run["resolution"]["attention_backend"] == "torch_native"
    assert run["drift"] == []
    assert run["artefacts"]
    assert (baseline["stack_name"], baseline["why"]) == (OLD, "the older one")


def test_the_compatibility_table_is_right_in_every_cell_and_the_advisor_with_it(
    smoked: Smoked, tmp_path: Path
) -> None:
    with connected(smoked.service.environment["KUNLINE_URL"]) as client:
        _measured_too(client, _with_a_wrong_package(tmp_path))

    _, told = smoked.kunline("compat", "show", "--format", "json")

    lines = {line["stack_name"]: line for line in told}
    assert lines[OLD]["state"] == "works"
    assert lines[NEW]["state"] in {"works", "works, regressed"}
    new = lines[NEW]["told"]
    assert new["kv_tokens"] > 0
    assert new["loaded_concurrency"] == SATURATED
    assert new["distance"] < ALIKE
    assert new["loaded_distance"] < ALIKE
    assert [lines[name]["state"] for name in (WRONG, DRIFTED)] == ["broken", "broken"]
    assert "AutoProcessor" in lines[WRONG]["told"]["chief"]["finding"]
    assert lines[DRIFTED]["told"]["chief"]["layer"] == "packages"
    assert "transformers" in lines[DRIFTED]["told"]["chief"]["finding"]
    assert _advised(smoked, WRONG) == (5, "no")
    assert _advised(smoked, NEW)[0] in {0, 3, 4}


def test_a_service_that_is_ended_leaves_no_process(smoked: Smoked) -> None:
    family = psutil.Process(smoked.service.running["up"].pid).children(recursive=True)

    smoked.service.end("up")

    assert family
    assert gone(family)


def _with_a_wrong_package(folder: Path) -> Matrix:
    """Copy the matrix, and add a stack whose server finds a wrong transformers first."""
    root = folder / "matrix"
    shutil.copytree(ROOT / "matrix", root)
    wrong = folder / "wrong/transformers/__init__.py"
    wrong.parent.mkdir(parents=True)
    wrong.write_text(IMPORTED)
    text = (root / f"stacks/{NEW}.yaml").read_text().replace(f"name: {NEW}", f"name: {WRONG}")
    found = f'environment: {{PYTHONPATH: "{wrong.parent.parent}"}}'
    changed = text.replace("environment: {}", found)
    (root / f"stacks/{WRONG}.yaml").write_text(changed)
    return read_matrix(root)


def _measured_too(client: Client, matrix: Matrix) -> None:
    """Order the broken stack and the drifted one behind one another, and wait for both."""
    plan = matrix.plans.named("smoke")
    broken, old = (
        session_upload(plan_session(matrix, plan, stacks=[name])) for name in (WRONG, OLD)
    )
    ordered = []
    for upload in (broken, _drifting(old)):
        for content in upload.artefacts.values():
            client.put_artefact(content)
        session = client.submit(upload.order, idempotency_key=os.urandom(8).hex())
        ordered.append(session.id)
    wait_until(
        lambda: all(client.session(each).state == "finished" for each in ordered),
        LIMIT_S,
        "both sessions are over",
    )


def _drifting(upload: SessionUpload) -> SessionUpload:
    """Return a session of a stack that says to have another transformers than it installs."""
    (asked,) = upload.order.stacks
    parts = tuple(
        replace(part, version="4.0.0") if part.name == "transformers" else part
        for part in asked.stack.components
    )
    stack = replace(asked.stack, name=DRIFTED, components=parts)
    document = STACK.dump_python(stack, mode="json")
    told = upload.order.model_dump(mode="json")
    told["stacks"] = [{**asked.model_dump(mode="json"), "key": stack.key, "stack": document}]
    for launch in told["launches"]:
        launch["stack_key"] = stack.key
    order = SessionOrder.model_validate_json(json.dumps(told))
    return SessionUpload(order, upload.artefacts)


def _advised(smoked: Smoked, to: str) -> tuple[int, str]:
    code, told = smoked.kunline("compat", "check", "--from", OLD, "--to", to, "--json")
    return code, told["answer"]
