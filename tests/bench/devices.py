"""What the device layer costs, as a share of a repeat's wall time: `python -m tests.bench.devices`.

The cpu device, and the kunlun device with a stand-in for `xpu-smi` on a host of eight cards. The
hot path is one look at all cards a second beside a load: this process's own share of the wall
time counts, and so does that of the program it starts, which here only prints. A real xpu-smi's
own cost is the vendor's and is not known. Exit code 1 at or above the limit.
"""

import argparse
import json
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from runners.benchmarks.card_watch import CardWatch, sampled
from runners.devices.device import Device, device_for
from runners.devices.host import Host
from tests.xpu_smi import shown, stand_in_host

LIMIT = 0.01
CARDS = 8
CALLS = 30


def main() -> int:
    """Measure both devices and print what they cost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="of the repeat that is watched")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        host = Host.of(stand_in_host(Path(folder), shown(CARDS)))
        told = {chip: _cost(device_for(chip, host), asked.seconds) for chip in ("cpu", "kunlun")}
    shares = [cost["share"] for cost in told.values()]
    sys.stdout.write(json.dumps(told) + "\n" if asked.json else _lines(told))
    return 0 if max(shares) < LIMIT else 1


def _cost(device: Device, seconds: float) -> dict[str, float]:
    """Return seconds of one enumeration and one sample, and the share of a watched repeat.

    share: processor time of this process and its children while a repeat is watched, less that of
    an equal sleep without a watch, over the repeat's wall time.
    """
    bare = _processor_share(lambda: time.sleep(seconds))
    watch = CardWatch(
        device.samples,
        leased=[card.number for card in device.cards()],
        before=sampled(device.samples),
        server_pids=lambda: (),
    )

    def watched() -> None:
        with watch.watching():
            time.sleep(seconds)

    return {
        "cards": len(device.cards()),
        "enumerate_s": _median(device.cards),
        "sample_s": _median(device.samples),
        "share": max(0.0, _processor_share(watched) - bare),
    }


def _processor_share(work: Callable[[], object]) -> float:
    """Return the processor time of this process and its ended children over the wall time."""
    before, began = _processor_s(), time.monotonic()
    work()
    return (_processor_s() - before) / (time.monotonic() - began)


def _processor_s() -> float:
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(used.ru_utime + used.ru_stime for used in both)


def _median(call: Callable[[], object]) -> float:
    taken = []
    for _ in range(CALLS):
        began = time.perf_counter()
        call()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def _lines(told: Mapping[str, Mapping[str, float]]) -> str:
    lines = [
        f"{chip}: {cost['cards']:.0f} cards; enumerate {cost['enumerate_s'] * 1e3:.2f} ms, sample "
        f"{cost['sample_s'] * 1e3:.2f} ms; watched once a second {cost['share']:.3%} of the wall "
        f"time (limit {LIMIT:.0%}: {'holds' if cost['share'] < LIMIT else 'does not hold'})"
        for chip, cost in told.items()
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
