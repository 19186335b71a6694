"""The developer's script: which tests run beside which, and on which cores."""

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
# A process with a second thread, and one below it.
FAMILY = """
import subprocess, sys, threading
below = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
threading.Thread(target=threading.Event().wait, daemon=True).start()
print("there", flush=True)
input()
below.communicate(b"\\n")
"""


@pytest.fixture(scope="module")
def dev() -> ModuleType:
    loader = SourceFileLoader("dev", str(ROOT / "dev"))
    spec = spec_from_loader("dev", loader)
    assert spec is not None
    found = module_from_spec(spec)
    loader.exec_module(found)
    return found


@pytest.fixture
def apart(dev: ModuleType) -> Iterator["subprocess.Popen[bytes]"]:
    """Start a process with a child, both on the last core alone."""
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, dev.last_core())
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", FAMILY], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
    finally:
        os.sched_setaffinity(0, every)
    assert process.stdout is not None
    assert process.stdout.readline() == b"there\n"
    yield process
    process.communicate(b"\n", timeout=60)


def test_every_test_is_in_one_part(dev: ModuleType) -> None:
    parts = [path for paths in dev.parts_of_tests().values() for path in paths]

    assert sorted(parts) == sorted(ROOT.glob("tests/**/test_*.py"))


def test_what_had_the_last_core_alone_gets_every_core_with_all_that_it_started(
    dev: ModuleType, apart: "subprocess.Popen[bytes]"
) -> None:
    threads = dev.threads_below(apart.pid)
    alone = [dev.cores_of(thread) for thread in threads]

    dev.spread(apart)

    assert len(threads) == 3
    assert alone == [dev.last_core()] * 3
    assert [dev.cores_of(thread) for thread in threads] == [os.sched_getaffinity(0)] * 3
