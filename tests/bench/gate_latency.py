"""How long a gate takes beyond its measurement: `python -m tests.bench.gate_latency`.

A service in a process of its own, `kunline gate` as a pipeline calls it, and a played runner: from
the moment the service has the last report that the gate needs until the answer is printed.
Exit code 1 beyond the limit. Gates on real SGLang tell the same: `./dev bench gate --real N`.
"""

import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from sqlalchemy import Engine

from service.store.database import create_database
from tests.e2e.production import ROOT, Stage, service_client
from tests.integration import builders, gating, path
from tests.integration.databases import free_port
from tests.made_wheel import made_wheel

GATES = 5
LATENCY_MAX_S = 2.0
ASKED = ("--plan", "pr-cpu", "--base", "stack:cpu-sglang-0.5.23", "--json")
COMPONENT = "kunline-sglang-cpu"
LIMIT_S = 120.0


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds of one gate. queued: from the command until its first launch could be claimed.

    printed: from the last report until its answer was there. ended: until the command was over.
    """

    queued: float
    printed: float
    ended: float


def main() -> int:
    """Print what was seen and return the exit code."""
    return told(latencies(GATES))


def told(found: list[Latency]) -> int:
    """Print latencies and return the exit code."""
    for name in ("queued", "printed", "ended"):
        each = sorted(getattr(one, name) for one in found)
        sys.stdout.write(
            f"latency, {name:8} median {median(each):.2f} s, most {each[-1]:.2f} s of "
            f"{len(each)} gates\n"
        )
    sys.stdout.flush()
    return 0 if all(each.printed <= LATENCY_MAX_S for each in found) else 1


def latencies(gates: int) -> list[Latency]:
    """Return what so many gates take on a service of their own."""
    with tempfile.TemporaryDirectory(prefix="kunline-latency-") as place:
        folder = Path(place)
        port, database = free_port(), f"sqlite:///{folder / 'kunline.db'}"
        stage = Stage(
            folder,
            {
                "KUNLINE_DATABASE_URL": database,
                "KUNLINE_DATA_DIR": str(folder / "data"),
                "KUNLINE_PORT": str(port),
            },
        )
        stage.module("api", "service.api", "--migrate")
        try:
            with service_client(port):
                engine = create_database(database, connections=2)
                wheels = [
                    made_wheel(folder, COMPONENT, f"1.{number}") for number in range(1, gates + 1)
                ]
                return [_gate(engine, wheel, port) for wheel in wheels]
        finally:
            stage.stop()


def _gate(engine: Engine, wheel: Path, port: int) -> Latency:
    begun = time.monotonic()
    words = (*ASKED, "--with", f"{COMPONENT}={wheel}", "--url", f"http://127.0.0.1:{port}")
    with subprocess.Popen(
        [sys.executable, "-m", "service.cli", "gate", *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as command:
        assert command.stdout is not None
        queued, last = _measured(engine, begun)
        command.stdout.readline()
        printed = time.monotonic()
        command.stdout.read()
        command.wait(LIMIT_S)
        return Latency(queued - begun, printed - last, time.monotonic() - last)


def _measured(engine: Engine, begun: float) -> tuple[float, float]:
    """Do the launches of a gate; return when the first was claimed and the last one stored."""
    claim = builders.claim(pool="local")
    while (job := path.claim(engine, claim)) is None:
        if time.monotonic() - begun > LIMIT_S:
            raise TimeoutError("the gate was not queued")
        time.sleep(0.02)
    queued = time.monotonic()
    done = 0
    while job is not None:
        gating.do_job(engine, job, lambda *_: 1.0, done)
        done += 1
        job = path.claim(engine, claim)
    return queued, time.monotonic()


if __name__ == "__main__":
    sys.exit(main())
