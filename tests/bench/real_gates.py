"""Real A/A gates: `python -m tests.bench.real_gates --gates 12`, `./dev bench gate --real 12`.

SGLang on this machine's CPU against itself, its plugin built once more: a word is never to be
regressed. The share of gates that end with 0 and with 4 is printed beside the rate that the stored
variances predict, as if an inconclusive gate blocked, and so is how long a gate took beyond its
measurement. --local: each gate brings a service of its own up, and all share what they measured.
Exit code 1 where one was regressed, gave no answer or took too long.
"""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from service.client import Client
from service.domain.noise import Noise
from service.formats.gate_answers import GateAnswer
from service.formats.launches import LaunchRead
from tests.bench.gate_shares import said
from tests.e2e.production import ROOT, Stage, service_client
from tests.e2e.slowed import COMPONENT, slowed_wheel
from tests.integration.databases import free_port

PLAN = "pr-cpu"
BASE = "stack:cpu-sglang-0.5.23"
# The most that a gate may take beyond its measurement.
LATENCY_MAX_S = 2.0


@dataclass(frozen=True, slots=True)
class Latency:
    """What a gate took beyond its measurement, in seconds.

    before: from the command until its session was queued. told: from the end of its last server
    until the service had the last report; None where that service is gone. printed: from then until
    the answer was there. ended: until the command was over too.
    """

    before: float
    told: float | None
    printed: float
    ended: float


@dataclass(frozen=True, slots=True)
class Timed:
    """One gate's answer and what it took beyond its measurement."""

    answer: GateAnswer
    latency: Latency


def main() -> int:
    """Measure the gates, print what became of them, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gates", type=int, default=12)
    parser.add_argument("--local", action="store_true")
    asked = parser.parse_args()
    return measured(asked.gates, locally=asked.local)


def measured(gates: int, *, locally: bool = False) -> int:
    """Measure so many gates on a service of their own, and return the exit code.

    Whatever ends it early, what was measured by then is reported.
    """
    # Whoever ends this ends the service with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    found: list[Timed] = []
    with tempfile.TemporaryDirectory(prefix="kunline-gates-") as place:
        folder = Path(place)
        override = ("--with", f"{COMPONENT}={slowed_wheel(folder, by=0.0)}")
        if locally:
            words = (*override, "--local", "--data-dir", str(folder / "data"))
            _gates(found, gates, words, None)
        with _serving(folder) as (client, url):
            try:
                if not locally:
                    _gates(found, gates, (*override, "--url", url), client)
            finally:
                if found:
                    _report(client, found, gates)
    return 0 if _is_good(found, gates) else 1


def _gates(found: list[Timed], gates: int, words: Sequence[str], client: Client | None) -> None:
    for number in range(1, gates + 1):
        found += _gate(client, words, f"{number} of {gates}")


@contextmanager
def _serving(folder: Path) -> Iterator[tuple[Client, str]]:
    """Bring a service and a runner up on a free port."""
    port = free_port()
    stage = Stage(folder, {})
    words = ("up", "--runner", "--port", str(port), "--data-dir", str(folder / "data"))
    stage.module("up", "service.cli", *words)
    try:
        with service_client(port) as client:
            yield client, f"http://127.0.0.1:{port}"
    finally:
        stage.stop()


def _gate(client: Client | None, words: Sequence[str], which: str) -> Sequence[Timed]:
    """Return what one gate answers and what it took; nothing where it gave no answer."""
    begun = datetime.now(UTC)
    with tempfile.TemporaryFile("w+") as said:
        with subprocess.Popen(
            [
                *(sys.executable, "-m", "service.cli", "gate", "--plan", PLAN, "--base", BASE),
                *("--json", *words),
            ],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
        ) as command:
            assert command.stdout is not None
            try:
                first = command.stdout.readline()
                printed = datetime.now(UTC)
                text = first + command.stdout.read()
                code = command.wait()
            except SystemExit:
                # What is measured then is cancelled with its command, and not waited for.
                command.terminate()
                raise
        ended = datetime.now(UTC)
        said.seek(0)
        complaints = said.read()[-2000:]
    try:
        answer = GateAnswer.model_validate(json.loads(text))
    except ValueError:
        _say(f"gate {which}: exit {code} and no answer: {complaints}")
        return ()
    timed = Timed(answer, _latency(client, answer, begun, printed, ended))
    _say(f"gate {which}: exit {code}, {(ended - begun).seconds} s; {_line(timed)}")
    return (timed,)


def _latency(
    client: Client | None, answer: GateAnswer, begun: datetime, printed: datetime, ended: datetime
) -> Latency:
    assert answer.finished_at is not None
    return Latency(
        before=(answer.asked_at - begun).total_seconds(),
        told=None if client is None else _told_s(client, answer),
        printed=(printed - answer.finished_at).total_seconds(),
        ended=(ended - answer.finished_at).total_seconds(),
    )


def _told_s(client: Client, answer: GateAnswer) -> float:
    assert answer.finished_at is not None
    runs = client.runs(session_id=answer.session_id).runs
    launches = [
        client.ask(LaunchRead, f"launches/{launch_id}")
        for launch_id in {run.launch_id for run in runs}
    ]
    stopped = max(each.stopped_at for each in launches if each.stopped_at is not None)
    return (answer.finished_at - stopped).total_seconds()


def _line(timed: Timed) -> str:
    answer, latency = timed.answer, timed.latency
    launches = sum(cell.baseline_launches + cell.candidate_launches for cell in answer.cells)
    words = ", ".join(
        f"{each.verdict.metric} {each.verdict.outcome} {each.verdict.worsening or 0:+.1%}"
        for cell in answer.cells
        for each in cell.verdicts
    )
    return (
        f"{answer.outcome}, {launches} launches, {answer.time.spent_card_s:.0f} card-seconds, "
        f"beyond them {latency.before:.1f} s before, {latency.printed:.1f} s after: "
        f"{words}"
    )


def _report(client: Client, found: Sequence[Timed], gates: int) -> None:
    answers = [timed.answer for timed in found]
    cells = answers[0].cells
    noise = client.noise(condition_keys=[cell.condition_key for cell in cells])
    known: Mapping[tuple[str, str], Noise] = {
        (each.condition_key, each.metric): each.noise() for each in noise
    }
    _say(f"\n{len(found)} of {gates} gates answered")
    for line in said(answers, known):
        _say(line)
    for name in ("before", "told", "printed", "ended"):
        every = [getattr(timed.latency, name) for timed in found]
        if each := sorted(seconds for seconds in every if seconds is not None):
            _say(f"latency {name:7} median {median(each):.2f} s, most {each[-1]:.2f} s")


def _is_good(found: Sequence[Timed], gates: int) -> bool:
    return len(found) == gates and all(
        timed.answer.outcome != "regressed" and timed.latency.printed <= LATENCY_MAX_S
        for timed in found
    )


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
