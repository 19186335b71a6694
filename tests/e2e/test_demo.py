"""A demo that is cut short, on real SGLang: nothing is left behind, and the next goes on."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.e2e.production import ROOT, gone

pytestmark = [pytest.mark.sglang, pytest.mark.redis, pytest.mark.timeout(1800)]

INTERRUPTED = 130


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
