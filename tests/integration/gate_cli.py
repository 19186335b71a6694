"""`kunline` as a pipeline calls it, and the runner that such tests play."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from sqlalchemy import Engine

from service.domain.condition import Condition
from service.formats.reports import Broken
from tests.e2e.production import ROOT
from tests.integration import builders, gating, path

LIMIT_S = 240
LOCAL = builders.claim(pool="local")


def command(url: str, *words: str) -> list[str]:
    """Return the words of a command that asks a service."""
    return [sys.executable, "-m", "service.cli", *words, "--url", url]


def environment(**more: str) -> Mapping[str, str]:
    """Return the environment of such a command, whatever folder it runs in."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


def kunline(url: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        command(url, *words),
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


def measure(engine: Engine, slower: float, *, unsteady: Sequence[float] = (1.0,)) -> int:
    """Do all jobs of pool local, the stack with a wheel slower by a factor; return how many.

    unsteady: what launches are scaled by beside that, one after the other.
    """

    def scale(stack: str, _: Condition, turn: int) -> float:
        return unsteady[turn % len(unsteady)] * (slower if "whl." in stack else 1.0)

    done = 0
    while (job := path.claim(engine, LOCAL)) is not None:
        gating.do_job(engine, job, scale, done)
        done += 1
    return done


def break_next(engine: Engine, broken: Broken) -> str:
    """Break the next launch at a layer, and return the name of its stack."""
    job = path.claimed(engine, LOCAL)
    path.tell_launch(engine, builders.launch_report(job, broken=broken))
    path.finish(engine, job)
    return job.stack.stack.name
