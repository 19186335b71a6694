"""Sum and gather over several processes with this Python's torch, and check every value.

Run by path with a measured environment's Python; standard library and torch, Python 3.8 syntax.
argv: DEVICE BACKEND RANKS SECONDS [pairs]. DEVICE is 'cpu', or 'cuda': rank r then uses card r of
those that are visible, as a server does. Prints one JSON line: {"works", "seen", "bytes_per_s",
"seconds"}, the last two by size: the best bus bandwidth, and what one all-reduce usually takes.
With 'pairs' each two ranks sum by themselves while the others wait, and the line holds "links"
instead: bus bandwidth by pair, as "0-1".
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
from itertools import combinations
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG = 1
LENGTH = 1024
# The curve from what is all latency to what is all bandwidth.
SIZES = {
    "cpu": (2**10, 2**13, 2**16, 2**18, 2**20),
    "cuda": (2**10, 2**14, 2**17, 2**20, 2**23, 2**26),
}
# Those of the curve that a person is told.
SHOWN = frozenset({2**10, 2**20, 2**26})
# In a row. A small message is over before a host's moods even out, and ten cost nothing.
ROUNDS, ROUNDS_OF_SMALL = 2, 10
SMALL = 2**17
# The best of so many tries tells how fast a link is: a host that is busy for a moment is no slow
# link. Their median tells how long a message usually takes, which is what a server has; they are
# many and sizes take turns, for processes that have just begun are slow at first.
TRIES = 15
# Over all pairs of ranks, one after the other.
PASSES = 2
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


def rank_main(
    rank: int, ranks: int, seconds: float, folder: str, way: list[str], by_pairs: bool
) -> None:
    """Be one rank; exit with what was found, and leave the words of an error in the folder."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    try:
        code = (paired if by_pairs else checked)(rank, ranks, seconds, folder, way)
    except Exception:  # noqa: BLE001 — whatever torch raises is what is looked for
        Path(folder, f"error{rank}").write_text(traceback.format_exc(), encoding="utf-8")
        code = RAISED
    sys.exit(code)


def met(rank: int, ranks: int, seconds: float, folder: str, way: list[str]) -> tuple[Any, Any, str]:
    """Return torch, its distributed part and this rank's device, once all ranks have met."""
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
    return torch, distributed, name


def checked(rank: int, ranks: int, seconds: float, folder: str, way: list[str]) -> int:
    """Return 0, or what is wrong; rank 0 leaves how long each size takes."""
    torch, distributed, name = met(rank, ranks, seconds, folder, way)
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
    times = curve(torch, distributed, name)
    if rank == 0:
        Path(folder, "times").write_text(json.dumps(times), encoding="utf-8")
    distributed.destroy_process_group()
    return 0


def paired(rank: int, ranks: int, seconds: float, folder: str, way: list[str]) -> int:
    """Return 0; the first of each two ranks leaves how fast they are by themselves.

    The best of some passes over all pairs counts: what disturbs one pass is no slow link.
    """
    torch, distributed, name = met(rank, ranks, seconds, folder, way)
    values = torch.zeros(SIZES[kind_of(name)][-1] // 4, dtype=torch.float32).to(name)
    pairs = list(combinations(range(ranks), 2))
    groups = {pair: distributed.new_group(list(pair)) for pair in pairs}
    best: dict[tuple[int, int], float] = {}
    for pair in pairs * PASSES:
        if rank in pair:
            more = {"group": groups[pair]}
            distributed.all_reduce(values, **more)
            waited(torch, name)
            each = seconds_each(torch, distributed, name, values, more)
            best[pair] = min(each, best.get(pair, each))
        # Whoever is not of this pair waits, so that no other traffic is on the links.
        distributed.all_reduce(torch.zeros(1, dtype=torch.float32).to(name))
        waited(torch, name)
    for (one, other), each in best.items():
        if rank == one:
            speed = SIZES[kind_of(name)][-1] / each
            Path(folder, f"pair{one}-{other}").write_text(str(speed), encoding="utf-8")
    distributed.destroy_process_group()
    return 0


def kind_of(name: str) -> str:
    """Return whose sizes a device has."""
    return "cpu" if name == "cpu" else "cuda"


def curve(torch: Any, distributed: Any, name: str) -> dict[str, list[float]]:
    """Return times of one all-reduce over all ranks by size in bytes, the best first."""
    values = {
        size: torch.zeros(size // 4, dtype=torch.float32).to(name) for size in SIZES[kind_of(name)]
    }
    times: dict[str, list[float]] = {str(size): [] for size in values}
    for each in values.values():
        distributed.all_reduce(each)
    waited(torch, name)
    for _ in range(TRIES):
        for size, each in values.items():
            rounds = ROUNDS_OF_SMALL if size <= SMALL else ROUNDS
            took = seconds_each(torch, distributed, name, each, {}, rounds)
            times[str(size)].append(took)
    return {size: sorted(tries) for size, tries in times.items()}


def seconds_each(
    torch: Any, distributed: Any, name: str, values: Any, more: Any, rounds: int = ROUNDS
) -> float:
    """Return how long one of some all-reduces in a row takes."""
    began = time.perf_counter()
    for _ in range(rounds):
        distributed.all_reduce(values, **more)
    waited(torch, name)
    return max((time.perf_counter() - began) / rounds, 1e-9)


def waited(torch: Any, name: str) -> None:
    """Wait until a card has done what it was asked."""
    if name != "cpu":
        torch.cuda.synchronize()


def main() -> int:
    """Start the ranks, wait for them, and say what was seen."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    way, ranks, seconds = sys.argv[1:3], int(sys.argv[3]), float(sys.argv[4])
    by_pairs = sys.argv[5:] == ["pairs"]
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        processes = [
            spawn.Process(target=rank_main, args=(rank, ranks, seconds, folder, way, by_pairs))
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
        return links_told(head, folder) or curve_told(head, len(codes), folder)
    ends = [f"rank {rank}: {SAID.get(code, code)}" for rank, code in enumerate(codes)]
    errors = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("error*"))]
    words = "; " + errors[0].strip()[-ERROR_CHARACTERS:] if errors else ""
    return {"works": False, "seen": head + ", ".join(ends) + words}


def links_told(head: str, folder: Path) -> dict[str, Any]:
    """Return how fast each pair is, in bytes per second; nothing where no pairs were asked."""
    files = {path.name[len("pair") :]: path for path in sorted(folder.glob("pair*"))}
    links = {pair: float(path.read_text(encoding="utf-8")) for pair, path in files.items()}
    return {"works": True, "seen": f"{head}{len(links)} pairs", "links": links} if links else {}


def curve_told(head: str, ranks: int, folder: Path) -> dict[str, Any]:
    """Return how long each size takes, and the bus bandwidth that it comes to."""
    times = json.loads((folder / "times").read_text(encoding="utf-8"))
    speeds = {
        size: int(size) / best * 2 * (ranks - 1) / ranks for size, (best, *_) in times.items()
    }
    shown = [f"{speeds[size] / 1e9:.2f} GB/s at {size} B" for size in speeds if int(size) in SHOWN]
    seen = f"{head}all-reduce and all-gather give every value right; bus bandwidth "
    return {
        "works": True,
        "seen": seen + ", ".join(shown),
        "bytes_per_s": speeds,
        "seconds": {size: tries[len(tries) // 2] for size, tries in times.items()},
    }


if __name__ == "__main__":
    sys.exit(main())
