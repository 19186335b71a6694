"""Faults that come with the load, on an emulated P800 host: each falls at its own gate.

Emulated: no card was ever here. A process stands for the server and the vendor's tool is asked as
on a real host; every finding has the sample that speaks for it, and every sample is kept.
"""

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Semaphore

import pytest

from runners.benchmarks.card_facts import CardsSeen
from runners.benchmarks.card_watch import CardWatch, sampled
from runners.benchmarks.client import Pass
from runners.benchmarks.run_facts import Seen, gate_findings
from runners.benchmarks.server_log import facts_in
from runners.devices.device import CardSample
from runners.devices.host import Host
from runners.devices.kunlun.device import KunlunDevice
from service.domain.soak import LEAST_POINTS, SOAK_S
from service.domain.validity import RunFacts
from service.formats.reports import GateFinding
from tests.hosts.p800.host import emulated_host
from tests.runner_orders import condition

CARDS = 2
EVERY_S = 0.05
LIMIT_S = 20.0
GIB = 2**30
# Gates on the cards, of which a fault falls at one and a host without a fault at none.
OF_CARDS = {
    "server_elsewhere",
    "stranger_on_cards",
    "card_throttled",
    "card_hot",
    "card_imbalance",
    "card_memory_creeps",
}
FAULTS = [
    ("hot-under-load:1", "card_hot", "warning", "card 1 at second", "97 °C"),
    ("throttled:1", "card_throttled", "failure", "card 1 at second", "0.60 of its clock, 870 MHz"),
    ("uneven:1", "card_imbalance", "warning", "card 0 0.95", "card 1 0.40"),
    ("stranger-under-load:1", "stranger_on_cards", "failure", "card 1 at second", "other process"),
    ("creeping:1", "card_memory_creeps", "warning", "card 1 takes", "MiB more an hour"),
]


def test_a_host_without_a_fault_falls_at_no_gate_on_its_cards(tmp_path: Path) -> None:
    seen = watched(tmp_path)

    assert codes(found(seen)) == set()
    assert seen.metrics == {"hbm_peak": 2.0 * GIB, "card_balance": 1.0, "card_clock": 1.0}
    assert seen.facts.cards_used == ("0", "1")


@pytest.mark.parametrize(
    ("fault", "gate", "severity", "card", "sample"),
    [pytest.param(*row, id=f"{row[0]} falls at {row[1]}") for row in FAULTS],
)
def test_a_fault_that_comes_with_the_load_falls_at_its_gate_with_a_sample(
    fault: str, gate: str, severity: str, card: str, sample: str, tmp_path: Path
) -> None:
    seen = watched(tmp_path, faults=[fault])

    findings = [finding for finding in found(seen) if finding.code in OF_CARDS]
    assert [(finding.code, finding.severity) for finding in findings] == [(gate, severity)]
    assert card in findings[0].message
    assert sample in findings[0].message
    lines = seen.table.decode().splitlines()
    assert len(lines) > CARDS * LEAST_POINTS
    assert {line.split(",")[1] for line in lines[1:]} == {"0", "1"}


@pytest.mark.parametrize(
    ("fault", "codes"),
    [
        pytest.param("fragmented", {"allocation_refused", "server_errors"}, id="fragmentation"),
        pytest.param("", set(), id="a host without a fault"),
    ],
)
def test_memory_in_no_one_piece_is_told_from_a_plain_shortage(
    fault: str, codes: set[str], tmp_path: Path
) -> None:
    log = served(tmp_path, faults=[fault] if fault else [])

    failures = {each.code: each for each in found(CardsSeen(), log) if each.severity == "failure"}
    assert {"allocation_refused", "server_errors"} & set(failures) == codes
    if codes:
        assert failures["allocation_refused"].observed == "1 by fragmentation"
        assert "3.10 GiB is reserved by PyTorch" in failures["allocation_refused"].message


def served(folder: Path, *, faults: Sequence[str]) -> str:
    """Return the log of an emulated launch, behind which a script stands for SGLang."""
    server = folder / "server"
    lines = "for i in $(seq 50); do echo 'INFO: \"POST /generate HTTP/1.1\" 200 OK'; done"
    server.parent.mkdir(exist_ok=True)
    server.write_text(f"#!/bin/sh\n{lines}\n", encoding="utf-8")
    server.chmod(0o755)
    host = emulated_host(folder / "host", cards=1, faults=faults, real_python=server)
    done = subprocess.run(
        [host.folder / "bin" / "sglang-kunlun-launch", "--tp-size", "1"],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "0", "XPU_VISIBLE_DEVICES": "0"},
        capture_output=True,
        text=True,
        check=True,
        timeout=LIMIT_S,
    )
    return done.stdout


def watched(folder: Path, *, faults: Sequence[str] = ()) -> CardsSeen:
    """Return what is seen of both cards while a process stands for their server."""
    host = emulated_host(folder, cards=CARDS, faults=faults)
    device = KunlunDevice(Host.of(host.variables))
    assert len(device.cards()) == CARDS
    before = sampled(device.samples)
    taken = Semaphore(0)

    def samples() -> Sequence[CardSample]:
        told = device.samples()
        taken.release()
        return told

    with server(folder) as pid:
        watch = CardWatch(
            samples, leased=(0, 1), before=before, server_pids=lambda: {pid}, every_s=EVERY_S
        )
        with watch.watching():
            assert all(taken.acquire(timeout=LIMIT_S) for _ in range(LEAST_POINTS + 2))
    return watch.seen()


@contextmanager
def server(folder: Path) -> Iterator[int]:
    """Start a process that is on both cards, as an emulated launch notes it."""
    with subprocess.Popen(["/bin/sleep", "60"]) as process:
        (folder / "processes" / str(process.pid)).write_text("0,1", encoding="utf-8")
        try:
            yield process.pid
        finally:
            process.kill()


def found(seen: CardsSeen, log: str = "") -> Sequence[GateFinding]:
    """Return what the gates find in a long load with these cards and this log beside it."""
    ended = Pass(rc=0, ended_by="itself", started=0.0, ended=SOAK_S, cpu_s=1.0)
    beside = Seen(ended=ended, argv=(), log=facts_in(log), flushed=200, cards=seen)
    return gate_findings(condition(), RunFacts(duration_s=SOAK_S), beside, client_cpu_share=0.1)


def codes(findings: Sequence[GateFinding]) -> set[str]:
    return {each.code for each in findings if each.severity != "unknown"} & OF_CARDS
