"""How fast result files are read: `python -m tests.bench.reading` prints it.

Lines as sglang.bench_serving writes them since 0.5.5, the server's own information in each, with
and without the details of twelve requests. Reading them into readings is held to `orjson.loads`
alone on the same lines, in the same process, in turns; NaN and Infinity, which it does not take,
are taken out for it. Exit code 1 below the least ratio or above the most memory.
"""

import argparse
import io
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import orjson

from service.formats.tools.registry import readings_in
from tests.results import serving

LEAST_RATIO = 0.3
MOST_BYTES = 200 * 2**20
# As many as a server of the newest release has, twice in each line: once for its first rank.
ARGUMENTS = 420
REQUESTS = 12
OUTPUT_TOKENS = 64
MIB = 2**20


def main() -> int:
    """Measure, print, and return whether the figures hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=7, help="the best of these counts")
    parser.add_argument("--mib", type=int, default=1024, help="size of the file for the memory")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    asked = parser.parse_args()
    told: dict[str, Any] = {
        name: speed(lines(asked.lines, details=details), asked.rounds)
        for name, details in (("plain", False), ("details", True))
    }
    told["memory"] = memory(asked.mib)
    sys.stdout.write(json.dumps(told) + "\n" if asked.json else _in_words(told))
    slow = min(told["plain"]["ratio"], told["details"]["ratio"]) < LEAST_RATIO
    return int(slow or told["memory"]["peak_bytes"] > MOST_BYTES)


def lines(count: int, *, details: bool) -> Sequence[bytes]:
    """Return lines of a result file, no two alike."""
    chance = random.Random(1)
    return [_line(chance, details=details) for _ in range(count)]


def speed(rows: Sequence[bytes], rounds: int) -> dict[str, float]:
    """Return how fast lines are read and how fast orjson.loads takes them, and the ratio."""
    data = b"\n".join(rows) + b"\n"
    plain = [row.replace(b"Infinity", b"1e99") for row in rows]

    def read() -> int:
        stream = io.BufferedReader(io.BytesIO(data))
        return sum(1 for _ in readings_in(stream, file="bench"))

    def load() -> int:
        return sum(1 for row in plain if orjson.loads(row))

    taken: dict[Callable[[], int], list[float]] = {read: [], load: []}
    for _ in range(rounds):
        for work, seconds in taken.items():
            started = time.process_time()
            if work() != len(rows):
                message = "not every line gave a reading"
                raise RuntimeError(message)
            seconds.append(time.process_time() - started)
    reading, loading = (min(seconds) for seconds in taken.values())
    return {
        "line_bytes": round(len(data) / len(rows)),
        "reading_mib_s": round(len(data) / MIB / reading, 1),
        "orjson_mib_s": round(len(data) / MIB / loading, 1),
        "ratio": round(loading / reading, 3),
    }


def memory(mib: int) -> dict[str, float]:
    """Return the peak memory of `kunline read FILE --json` on a file of a size, and its time."""
    block = b"\n".join(lines(100, details=True)) + b"\n"
    command = [sys.executable, "-m", "service.cli", "read"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.jsonl"
        with path.open("wb") as stream:
            for _ in range(mib * MIB // len(block) + 1):
                stream.write(block)
        size = path.stat().st_size
        started = time.monotonic()
        with subprocess.Popen([*command, path, "--json"], stdout=subprocess.DEVNULL) as child:
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
    return {
        "file_bytes": size,
        "seconds": round(time.monotonic() - started, 1),
        "exit_code": child.returncode,
        "peak_bytes": _peak_bytes(used),
    }


def _peak_bytes(used: resource.struct_rusage) -> int:
    return used.ru_maxrss * 1024


def _line(chance: random.Random, *, details: bool) -> bytes:
    result = serving(server_info=_server_info(chance), duration=40 + chance.random())
    if details:
        result |= {
            "input_lens": [128] * REQUESTS,
            "output_lens": [OUTPUT_TOKENS] * REQUESTS,
            "ttfts": [chance.random() for _ in range(REQUESTS)],
            "itls": [[chance.random() for _ in range(OUTPUT_TOKENS)] for _ in range(REQUESTS)],
            "generated_texts": [
                " ".join(f"w{chance.randrange(9999)}" for _ in range(OUTPUT_TOKENS))
                for _ in range(REQUESTS)
            ],
            "errors": [""] * REQUESTS,
        }
        result |= {"completed": REQUESTS, "total_output_tokens": REQUESTS * OUTPUT_TOKENS}
    return json.dumps(result).encode()


def _server_info(chance: random.Random) -> dict[str, Any]:
    kinds: tuple[Callable[[], Any], ...] = (
        lambda: None,
        lambda: False,
        lambda: chance.randrange(100_000),
        lambda: chance.choice(("auto", "torch_native", "triton", "round_robin")),
        lambda: [1, 2, 4, 8, 16],
    )
    arguments = {
        f"argument_of_the_server_{number}": kinds[number % len(kinds)]()
        for number in range(ARGUMENTS)
    }
    told = dict(serving()["server_info"]) | arguments
    return told | {"internal_states": [told | {"last_gen_throughput": chance.random()}]}


def _in_words(told: dict[str, Any]) -> str:
    rows = [
        f"{name}: lines of {each['line_bytes'] / 1000:.1f} kB: read at {each['reading_mib_s']} "
        f"MiB/s, orjson.loads alone at {each['orjson_mib_s']} MiB/s, ratio {each['ratio']} "
        f"(at least {LEAST_RATIO})"
        for name, each in told.items()
        if name != "memory"
    ]
    used = told["memory"]
    rows.append(
        f"memory: {used['file_bytes'] / MIB:.0f} MiB in {used['seconds']} s, peak "
        f"{used['peak_bytes'] / MIB:.0f} MiB (at most {MOST_BYTES / MIB:.0f})"
    )
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    sys.exit(main())
