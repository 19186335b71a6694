"""From a matrix file to a verdict on real SGLang, in the embedded shape, as a person does it."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.e2e.production import ROOT, Stage, gone

pytestmark = [pytest.mark.sglang, pytest.mark.redis, pytest.mark.timeout(2400)]

STACKS = ("cpu-sglang-0.5.18", "cpu-sglang-0.5.23")
JUDGED = {"output_throughput", "ttft_p50", "tpot_p50"}
VERDICTS = {0, 3, 4}
INTERRUPTED = 130


def test_a_plan_on_two_stacks_ends_in_verdicts_and_leaves_no_process(embedded: Stage) -> None:
    code, verdicts = _kunline(embedded, "run", "smoke", *_named(STACKS), "--json", limit_s=1800)

    assert code in VERDICTS, embedded.log("up")
    assert verdicts["finished"]
    [cell] = verdicts["cells"]
    assert cell["against"] == "control"
    assert {verdict["metric"] for verdict in cell["comparison"]["verdicts"]} == JUDGED
    _, page = _kunline(embedded, "runs", "--session", verdicts["session_id"], "--json")
    assert [run["state"] for run in page["runs"]] == ["measured", "measured"]
    _stored_as_it_was_measured(embedded, page["runs"])
    _pinned(embedded, page["runs"])
    _compared(embedded, page["runs"])
    family = psutil.Process(embedded.running["up"].pid).children(recursive=True)
    embedded.end("up")
    assert gone(family)


def _stored_as_it_was_measured(embedded: Stage, runs: list[dict[str, Any]]) -> None:
    _, run = _kunline(embedded, "runs", runs[0]["id"], "--json")

    assert len(run["seeds"]) == len(run["values"]["ttft_p50"]) == 2
    assert all(value > 0 for values in run["values"].values() for value in values)
    assert run["resolution"]["attention_backend"] == "torch_native"
    assert run["drift"] == []
    assert run["artefacts"]


def _pinned(embedded: Stage, runs: list[dict[str, Any]]) -> None:
    key = next(run["stack_key"] for run in runs if run["stack_name"] == STACKS[0])
    _kunline(embedded, "baseline", "pin", key, "--why", "the older one", "--json")
    _, [baseline] = _kunline(embedded, "baseline", "show", "--json")

    assert (baseline["stack_name"], baseline["why"]) == (STACKS[0], "the older one")


def _compared(embedded: Stage, runs: list[dict[str, Any]]) -> None:
    code, answer = _kunline(embedded, "compare", *(run["stack_key"] for run in runs), "--json")

    assert code in VERDICTS
    assert answer["comparable"]


def _named(stacks: tuple[str, ...]) -> list[str]:
    return [word for stack in stacks for word in ("--stack", stack)]


def _kunline(stage: Stage, *words: str, limit_s: float = 60) -> tuple[int, Any]:
    """Run a command and return its exit code and the one JSON document on its stdout."""
    answered = subprocess.run(
        [sys.executable, "-m", "service.cli", *words],
        cwd=ROOT,
        env={**os.environ, **stage.environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=limit_s,
    )
    assert answered.stdout, answered.stderr
    return answered.returncode, json.loads(answered.stdout)


def test_a_demo_that_is_interrupted_leaves_nothing_behind_and_goes_on_where_it_was(
    tmp_path: Path,
) -> None:
    first = _demo(tmp_path)
    session = _read_until(first, "session ")
    _read_until(first, ": measure")
    family = psutil.Process(first.pid).children(recursive=True)
    first.send_signal(signal.SIGINT)

    assert _ended(first) == INTERRUPTED
    assert gone(family)
    again = _demo(tmp_path)
    assert _session_in(_read_until(again, "session ")) == _session_in(session)
    again.send_signal(signal.SIGINT)
    assert _ended(again) == INTERRUPTED


def _demo(folder: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "service.cli", "demo", "--exit", "--data-dir", str(folder / "data")],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def _ended(process: "subprocess.Popen[str]") -> int:
    """Wait for a process to end, read what it still says, and return its exit code."""
    process.communicate(timeout=120)
    return process.returncode


def _read_until(process: "subprocess.Popen[str]", part: str) -> str:
    """Return the first line of a process's stderr that holds a text."""
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if part in line:
            return line
    raise AssertionError(f"it ended with {process.wait()} and never said {part!r}: {said}")


def _session_in(line: str) -> str:
    found = re.search(r"session ([0-9a-f-]{36})", line)
    assert found is not None, line
    return found[1]
