"""A plugin's pull request that slows real SGLang down: local and remote, from one measurement."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from runners.stacks.measured import measured_versions
from tests.e2e.p800_site import real_python
from tests.e2e.production import ROOT, Stage, service_client
from tests.e2e.slowed import COMPONENT, slowed_wheel, sooner_path
from tests.integration.databases import free_port

pytestmark = [pytest.mark.sglang, pytest.mark.redis, pytest.mark.timeout(1800)]

# One launch of each stack: enough for a slowdown that is many times the noise.
PLAN = """
name: pr-tiny
pool: local
cards: {chip: cpu, model: core, form: shared, occupancy: packed}
model: tiny-llama
client: sglang-0.5.23
launches: 1
repeats: 3
start_s: 40
policy:
  min_repeats: 3
  tolerances: {output_throughput: 0.10, tpot_p50: 0.10, ttft_p50: 0.25}
gate: {informing: [ttft_p50]}
cells:
  - workload: brief
    concurrency: [4]
    why: Decoding in a batch shows what the plugin adds.
"""
WORKLOAD = """
name: brief
load: closed
input_tokens: 64
output_tokens: 16
prompts: 8
repeat_s: 2
"""
# The baseline's environment as a host's own, into which nobody installs anything: the wheel is laid
# over it. No environment is built for the candidate, which is most of what this test would take.
STACK = """
name: {name}
chip: cpu
built_at: 2026-10-30
build: {{kind: host, python: {python}}}
components:
  - {{name: torch, version: 2.13.0+cpu, layer: packages, scope: process}}
  - {{name: sglang, version: 0.5.23, layer: server, scope: process}}
  - {{name: {plugin}, version: "{version}", layer: plugin, scope: process}}
server:
  environment: {{PYTHONPATH: "{path}"}}
verified:
  state: verified
  note: The environment of cpu-sglang-0.5.23, as it lies on this machine.
"""
ON_HOST = "cpu-on-host"


def test_a_slowed_plugin_is_regressed_locally_and_when_the_service_is_asked(
    tmp_path: Path,
) -> None:
    python = real_python(ROOT / "matrix")
    before = measured_versions(python)
    matrix = _matrix(tmp_path, python, before[COMPONENT])
    (tmp_path / "pr-tiny.yaml").write_text(PLAN)
    # A pass is a part of a token's time: this slows tokens by a half at least, on a busy machine.
    slowed_wheel(tmp_path, by=3.0)

    code, answer = _gate(
        tmp_path,
        *("--local", "--data-dir", str(tmp_path / "data"), "--plan", "pr-tiny.yaml"),
        *("--matrix", str(matrix), "--base", f"stack:{ON_HOST}"),
        *("--with", f"{COMPONENT}=./*.whl", "--json"),
    )

    assert code == 3, json.dumps(answer["cells"])
    _is_regressed(answer)
    assert [each["name"] for each in answer["components"]] == [COMPONENT]
    assert measured_versions(python) == before
    remote_code, remote = _asked_of_a_service(tmp_path, answer["id"])
    assert remote_code == 3
    _is_regressed(remote)


def _matrix(folder: Path, python: Path, version: str) -> Path:
    """Write a matrix with one more stack: what lies on this machine already."""
    root, path = folder / "matrix", sooner_path(folder)
    shutil.copytree(ROOT / "matrix", root)
    named = {"name": ON_HOST, "plugin": COMPONENT, "version": version}
    text = STACK.format(python=python, path=path, **named)
    (root / "stacks" / f"{ON_HOST}.yaml").write_text(text)
    (root / "workloads" / "brief.yaml").write_text(WORKLOAD)
    return root


def _is_regressed(answer: dict[str, Any]) -> None:
    """Hold an answer to naming the cell, and an interval that is worse as a whole."""
    [cell] = answer["cells"]
    found = {each["verdict"]["metric"]: each["verdict"] for each in cell["verdicts"]}
    assert cell["title"]
    assert found["tpot_p50"]["outcome"] == "regressed"
    assert 0.1 < found["tpot_p50"]["low"] < found["tpot_p50"]["worsening"]


def _asked_of_a_service(folder: Path, gate_id: str) -> tuple[int, dict[str, Any]]:
    """Serve what was measured, and attach to the gate as another machine would."""
    port = free_port()
    stage = Stage(folder, {})
    words = ("up", "--port", str(port), "--data-dir", str(folder / "data"))
    stage.module("up", "service.cli", *words)
    try:
        with service_client(port):
            url = f"http://127.0.0.1:{port}"
            return _gate(folder, "--attach", gate_id, "--url", url, "--json")
    finally:
        stage.stop()


def _gate(folder: Path, *words: str) -> tuple[int, dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-m", "service.cli", "gate", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=1500,
        check=False,
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)
