"""Real SGLang, slowed by one of four settings of its stack file: that one is named, no other."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.production import ROOT, Stage

pytestmark = [pytest.mark.sglang, pytest.mark.redis, pytest.mark.timeout(1800)]

GOOD = "cpu-sglang-0.5.23"
# Of eight requests in flight seven wait: a slowdown many times what a busy machine does.
SLOW = "--max-running-requests"
SLOWED = {SLOW.removeprefix("--"): 1}
QUIET = {
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "OMP_DISPLAY_ENV": "false",
}
WORKLOAD = """
name: waiting
load: closed
input_tokens: 64
output_tokens: 16
prompts: 16
repeat_s: 3
"""
# One launch of each stack tells two thirds less throughput. A tolerance lies between that and what
# a busy machine does to one launch of a stack that is only different.
PLAN = """
name: find
pool: local
cards: {chip: cpu, model: core, form: shared, occupancy: packed}
model: tiny-llama
client: sglang-0.5.23
launches: 1
repeats: 4
start_s: 40
policy: {min_repeats: 3, tolerances: {output_throughput: 0.4, tpot_p50: 0.4, ttft_p50: 0.8}}
cells:
  - workload: waiting
    concurrency: [8]
    why: Eight requests at once, of which the slow stack serves one.
"""


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    """Copy the matrix, with a slow stack and one that only looks different."""
    root = tmp_path / "matrix"
    shutil.copytree(ROOT / "matrix", root)
    (root / "plans" / "find.yaml").write_text(PLAN)
    (root / "workloads" / "waiting.yaml").write_text(WORKLOAD)
    # What a stack is to set, the model must leave open.
    model = root / "models" / "tiny-llama.yaml"
    settings = model.read_text().splitlines(keepends=True)
    model.write_text("".join(line for line in settings if SLOW.removeprefix("--") not in line))
    good = (root / "stacks" / f"{GOOD}.yaml").read_text()
    for name, arguments in (("cpu-bad", SLOWED), ("cpu-twin", {})):
        shutil.copy(root / "stacks" / f"{GOOD}.lock", root / "stacks" / f"{name}.lock")
        text = (
            good.replace(GOOD, name)
            .replace("  arguments: {}", f"  arguments: {json.dumps(arguments)}")
            .replace("  environment: {}", f"  environment: {json.dumps(QUIET)}")
        )
        (root / "stacks" / f"{name}.yaml").write_text(text)
    return root


def test_one_of_four_settings_is_named_and_a_stack_that_is_only_different_is_not_blamed(
    embedded: Stage, matrix: Path
) -> None:
    asked = ("--good", GOOD, "--plan", "find", "--matrix", str(matrix))

    code, answer = _kunline(embedded, "attribute", *asked, "--bad", "cpu-bad")

    assert code == 0, embedded.log("up")
    assert (answer["outcome"], answer["cause"]) == ("regressed", "single")
    assert [part["name"] for step in answer["found"] for part in step["parts"]] == [SLOW]
    assert len(answer["combos"]) <= answer["most_combos"] == 3
    _, again = _kunline(embedded, "attribute", *asked, "--bad", "cpu-bad")
    assert all(combo["cached"] for combo in again["combos"])
    assert again["found"] == answer["found"]
    _tried(embedded, matrix)
    _, twin = _kunline(embedded, "attribute", *asked, "--bad", "cpu-twin")
    assert (twin["cause"], twin["combos"]) == (None, [])
    assert twin["outcome"] != "regressed"


def _tried(embedded: Stage, matrix: Path) -> None:
    """Ask the same as an experiment, which has been measured by now, and keep the default."""
    asked = ("--stack", GOOD, "--matrix", str(matrix), "--set", f"{SLOW}=default,1")
    code, answer = _kunline(embedded, "experiment", "find", *asked)

    assert code == 0
    assert answer["cached"]
    assert answer["recommendation"]["value"] == "default"


def _kunline(stage: Stage, *words: str) -> tuple[int, Any]:
    """Run a command and return its exit code and the one JSON document on its stdout."""
    answered = subprocess.run(
        [sys.executable, "-m", "service.cli", *words, "--json"],
        cwd=ROOT,
        env={**os.environ, **stage.environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=1500,
    )
    assert answered.stdout, answered.stderr
    return answered.returncode, json.loads(answered.stdout)
