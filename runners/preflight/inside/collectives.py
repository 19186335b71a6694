"""Sum and gather over several processes with this Python's torch, and check every value.

Run by path with a measured environment's Python; standard library and torch, Python 3.8 syntax.
argv: DEVICE BACKEND RANKS SECONDS. DEVICE is 'cpu', or 'cuda': rank r then uses card r of those
that are visible, as a server does. Prints one JSON line: {"works", "seen", "bytes_per_s"}, the
last by size: the bus bandwidth of an all-reduce.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import multiprocessing
import os
import signal
import sys
import tempfile
import time
import traceback
from datetime import timedelta
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG = 1
LENGTH = 1024
SIZES = {"cpu": (2**10, 2**20), "cuda": (2**10, 2**20, 2**26)}
ROUNDS = 2
# The best of so many tries counts: a host that is busy for a moment is no slow link.
TRIES = 3
# What a rank's exit code says.
WRONG_SUM, WRONG_GATHER, RAISED = 3, 4, 5
SAID = {
    0: "right",
    WRONG_SUM: "a wrong sum in all-reduce",
    WRONG_GATHER: "a wrong value in all-gather",
    RAISED: "an error",
    None: "no end in time",
}
ERROR_CHARACTERS = 1200


def rank_main(rank: int, ranks: int, seconds: float, folder: str, way: list[str]) -> None:
    """Be one rank; exit with what was found, and leave the words of an error in the folder."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    try:
        code = checked(rank, ranks, seconds, folder, way)
    except Exception:  # noqa: BLE001 — whatever torch raises is what is looked for
        Path(folder, f"error{rank}").write_text(traceback.format_exc(), encoding="utf-8")
        code = RAISED
    sys.exit(code)


def checked(rank: int, ranks: int, seconds: float, folder: str, way: list[str]) -> int:
    """Return 0, or what is wrong; rank 0 leaves how fast it was."""
    torch = importlib.import_module("torch")
    distributed = importlib.import_module("torch.distributed")
    device, backend = way
    name = device if device == "cpu" else f"{device}:{rank}"
    if device != "cpu":
        torch.cuda.set_device(name)
    distributed.init_process_group(
        backend,
        init_method="file://" + str(Path(folder, "store")),
        rank=rank,
        world_size=ranks,
        timeout=timedelta(seconds=seconds),
    )
    ramp = torch.arange(LENGTH, dtype=torch.float32)
    summed = (ramp * (rank + 1)).to(name)
    distributed.all_reduce(summed)
    if not torch.equal(summed.to("cpu"), ramp * (ranks * (ranks + 1) // 2)):
        return WRONG_SUM
    mine = (ramp * (rank + 1)).to(name)
    gathered = [torch.zeros(LENGTH, dtype=torch.float32).to(name) for _ in range(ranks)]
    distributed.all_gather(gathered, mine)
    for other, values in enumerate(gathered):
        if not torch.equal(values.to("cpu"), ramp * (other + 1)):
            return WRONG_GATHER
    speeds = bandwidths(torch, distributed, name, ranks)
    if rank == 0:
        Path(folder, "speeds").write_text(json.dumps(speeds), encoding="utf-8")
    distributed.destroy_process_group()
    return 0


def bandwidths(torch: Any, distributed: Any, name: str, ranks: int) -> dict[str, float]:
    """Return an all-reduce's best bus bandwidth by size in bytes, timed by the wall clock."""
    found = {}
    for size in SIZES["cpu" if name == "cpu" else "cuda"]:
        values = torch.zeros(size // 4, dtype=torch.float32).to(name)
        distributed.all_reduce(values)
        waited(torch, name)
        each = min(seconds_each(torch, distributed, name, values) for _ in range(TRIES))
        found[str(size)] = size / each * 2 * (ranks - 1) / ranks
    return found


def seconds_each(torch: Any, distributed: Any, name: str, values: Any) -> float:
    """Return how long one of some all-reduces in a row takes."""
    began = time.perf_counter()
    for _ in range(ROUNDS):
        distributed.all_reduce(values)
    waited(torch, name)
    return max((time.perf_counter() - began) / ROUNDS, 1e-9)


def waited(torch: Any, name: str) -> None:
    """Wait until a card has done what it was asked."""
    if name != "cpu":
        torch.cuda.synchronize()


def main() -> int:
    """Start the ranks, wait for them, and say what was seen."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    way, ranks, seconds = sys.argv[1:3], int(sys.argv[3]), float(sys.argv[4])
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        processes = [
            spawn.Process(target=rank_main, args=(rank, ranks, seconds, folder, way))
            for rank in range(ranks)
        ]
        for process in processes:
            process.start()
        until = time.monotonic() + seconds
        for process in processes:
            process.join(max(until - time.monotonic(), 0.1))
        codes = [process.exitcode for process in processes]
        for process in processes:
            if process.exitcode is None:
                process.kill()
                process.join()
        said = told(way[1], codes, Path(folder))
    sys.stdout.write(json.dumps(said) + "\n")
    return 0


def told(backend: str, codes: list[Any], folder: Path) -> dict[str, Any]:
    """Return what the ranks found."""
    head = f"{backend} over {len(codes)} ranks: "
    if not any(codes) and None not in codes:
        speeds = json.loads((folder / "speeds").read_text(encoding="utf-8"))
        shown = ", ".join(f"{speeds[size] / 1e9:.2f} GB/s at {size} B" for size in speeds)
        seen = head + "all-reduce and all-gather give every value right; bus bandwidth " + shown
        return {"works": True, "seen": seen, "bytes_per_s": speeds}
    ends = [f"rank {rank}: {SAID.get(code, code)}" for rank, code in enumerate(codes)]
    errors = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("error*"))]
    words = "; " + errors[0].strip()[-ERROR_CHARACTERS:] if errors else ""
    return {"works": False, "seen": head + ", ".join(ends) + words}


if __name__ == "__main__":
    sys.exit(main())
