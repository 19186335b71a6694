"""Real A/A gates: `python -m tests.bench.real_gates --gates 12`, `./dev bench gate --real 12`.

SGLang on this machine's CPU against itself, its plugin built once more: a word is never to be
regressed. How often a metric is called unchanged is printed beside the rate that the variances
predict which these gates have told of. Exit code 1 where one was regressed.
"""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from service.client import Client
from service.domain.ci_gate import Looks, planned_chances
from service.domain.metric import METRICS
from service.domain.noise import expected_of
from service.domain.verdict import Outcome
from service.formats.gate_answers import GateAnswer
from tests.e2e.production import ROOT, Stage, service_client
from tests.e2e.slowed import COMPONENT, slowed_wheel
from tests.integration.databases import free_port

PLAN = "pr-cpu"
BASE = "stack:cpu-sglang-0.5.23"
LOOKS, REPEATS, CONFIDENCE = Looks((2, 4)), 3, 0.95
GATE_LIMIT_S = 3600.0


def main() -> int:
    """Measure the gates, print what became of them, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gates", type=int, default=12)
    return measured(parser.parse_args().gates)


def measured(gates: int) -> int:
    """Measure so many gates on a service of their own, and return the exit code."""
    # Whoever ends this ends the service with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix="kunline-gates-") as place:
        folder = Path(place)
        wheel = slowed_wheel(folder, by=0.0)
        port = free_port()
        stage = Stage(folder, {})
        words = ("up", "--runner", "--port", str(port), "--data-dir", str(folder / "data"))
        stage.module("up", "service.cli", *words)
        try:
            with service_client(port) as client:
                answers = [_gate(wheel, port) for _ in range(gates)]
                _report(client, answers)
        finally:
            stage.stop()
    return 1 if any(answer.outcome is Outcome.REGRESSED for answer in answers) else 0


def _gate(wheel: Path, port: int) -> GateAnswer:
    """Return what one gate answers, and say how long it took beside its launches."""
    begun = time.monotonic()
    override = f"{COMPONENT}={wheel}"
    done = subprocess.run(
        [
            *(sys.executable, "-m", "service.cli", "gate", "--plan", PLAN, "--base", BASE),
            *("--with", override, "--url", f"http://127.0.0.1:{port}", "--json"),
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        timeout=GATE_LIMIT_S,
        check=False,
    )
    answer = GateAnswer.model_validate(json.loads(done.stdout))
    beside_s = time.monotonic() - begun - answer.time.spent_card_s
    launches = sum(cell.baseline_launches + cell.candidate_launches for cell in answer.cells)
    words = " ".join(
        f"{each.verdict.metric} {each.verdict.outcome} {each.verdict.worsening or 0:+.1%}"
        for cell in answer.cells
        for each in cell.verdicts
    )
    _say(
        f"exit {done.returncode}, {launches} launches, {answer.time.spent_card_s:.0f} s and "
        f"{beside_s:.1f} s beside: {words}"
    )
    return answer


def _report(client: Client, answers: Sequence[GateAnswer]) -> None:
    _say(f"\ngates: {dict(Counter(str(answer.outcome) for answer in answers))}")
    cell = answers[0].cells[0]
    known = {
        each.metric: each.noise() for each in client.noise(condition_keys=[cell.condition_key])
    }
    _say("metric  called unchanged  predicted  called regressed")
    for place, first in enumerate(cell.verdicts):
        name = first.verdict.metric
        words = [answer.cells[0].verdicts[place].verdict.outcome for answer in answers]
        predicted = planned_chances(
            expected_of(METRICS[name], known.get(name)),
            LOOKS,
            repeats=REPEATS,
            tolerance=first.verdict.tolerance,
            worsening=0.0,
            confidence=CONFIDENCE,
        )
        _say(
            f"{name:18} {words.count(Outcome.UNCHANGED) / len(words):.0%}  "
            f"{predicted.unchanged:.0%}  {words.count(Outcome.REGRESSED) / len(words):.0%}"
        )


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
