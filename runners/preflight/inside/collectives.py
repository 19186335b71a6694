"""Sum and gather over several processes with this Python's torch, and check every value.

Run by path with a measured environment's Python; standard library and torch, Python 3.8 syntax.
argv: DEVICE BACKEND RANKS SECONDS [pairs]. DEVICE is 'cpu', or 'cuda': rank r then uses card r of
those that are visible, as a server does. Prints one JSON line: {"works", "seen", "bytes_per_s",
"seconds"}, the last two by size: the best bus bandwidth, and what one all-reduce takes a server.
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
from statistics import mean, median
from typing import Any

PR_SET_PDEATHSIG = 1
LENGTH = 1024
# The curve from what is all latency to what is all bandwidth.
SIZES = {
    "cpu": (2**10, 2**13, 2**16, 2**18, 2**20, 2**23),
    "cuda": (2**10, 2**14, 2**17, 2**20, 2**23, 2**26),
}
# Those of the curve that a person is told.
SHOWN = frozenset({2**10, 2**20, 2**26})
# In a row. A small message is over before a card's moods even out, and ten cost nothing.
ROUNDS, ROUNDS_OF_SMALL = 2, 10
SMALL = 2**17
# Sizes take turns, for processes that have just begun are slow at first: how often, and how many
# tries in each turn. On a CPU a message in five waits some milliseconds for a processor, so many
# are needed, and those of a server are all alike.
TURNS = {"cpu": (5, 20), "cuda": (15, 1)}
# A server's ranks have so many groups, and on a CPU the threads of the idle ones take turns with
# those that send, which holds them up less long.
GROUPS = {"cpu": 12, "cuda": 1}
# On a CPU a model's own work runs on the processors that its messages need: so long before each,
# and after each turn of so many a pause as between two passes.
WORK_S, PAUSE_S, MESSAGES_OF_PASS = 0.003, 0.004, 10
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
    """Return 0, or what is wrong; each rank leaves when its messages began and ended."""
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
    spans = curve(torch, distributed, name, ranks)
    Path(folder, f"spans{rank}").write_text(json.dumps(spans), encoding="utf-8")
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


def curve(torch: Any, distributed: Any, name: str, ranks: int) -> dict[str, list[list[float]]]:
    """Return begin and end of every try by size in bytes, on a clock that all ranks share.

    Over one of as many groups as a server has, beside the one that all meet by.
    """
    kind = kind_of(name)
    group, *_ = [distributed.new_group(list(range(ranks))) for _ in range(GROUPS[kind])]
    values = {size: torch.zeros(size // 4, dtype=torch.float32).to(name) for size in SIZES[kind]}
    spans: dict[str, list[list[float]]] = {str(size): [] for size in values}
    for each in values.values():
        distributed.all_reduce(each, group=group)
    waited(torch, name)
    turns, tries = TURNS[kind]
    for size, each in list(values.items()) * turns:
        for at in range(tries):
            if kind == "cpu":
                worked(torch, at)
            began = time.perf_counter()
            for _ in range(rounds_of(kind, size)):
                distributed.all_reduce(each, group=group)
            waited(torch, name)
            spans[str(size)].append([began, time.perf_counter()])
    return spans


def rounds_of(kind: str, size: int) -> int:
    """Return how many messages are sent in a row."""
    if kind == "cpu":
        return 1
    return ROUNDS_OF_SMALL if size <= SMALL else ROUNDS


def worked(torch: Any, messages: int) -> None:
    """Do what a layer does to a few tokens, in many small operators. messages: sent before."""
    if messages % MESSAGES_OF_PASS == 0:
        time.sleep(PAUSE_S)
    tokens, weights = torch.ones(8, 256), torch.ones(256, 512)
    until = time.perf_counter() + WORK_S
    while time.perf_counter() < until:
        scale = torch.rsqrt((tokens * tokens).mean(-1, keepdim=True) + 1)
        ((tokens * scale) @ weights).view(8, 16, 32).transpose(0, 1).to(torch.float64)


def seconds_each(torch: Any, distributed: Any, name: str, values: Any, more: Any) -> float:
    """Return how long one of some all-reduces in a row takes."""
    began = time.perf_counter()
    for _ in range(ROUNDS):
        distributed.all_reduce(values, **more)
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
        said = told(way, codes, Path(folder))
    sys.stdout.write(json.dumps(said) + "\n")
    return 0


def told(way: list[str], codes: list[Any], folder: Path) -> dict[str, Any]:
    """Return what the ranks found."""
    device, backend = way
    head = f"{backend} over {len(codes)} ranks: "
    if not any(codes) and None not in codes:
        return links_told(head, folder) or curve_told(head, len(codes), folder, device)
    ends = [f"rank {rank}: {SAID.get(code, code)}" for rank, code in enumerate(codes)]
    errors = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("error*"))]
    words = "; " + errors[0].strip()[-ERROR_CHARACTERS:] if errors else ""
    return {"works": False, "seen": head + ", ".join(ends) + words}


def links_told(head: str, folder: Path) -> dict[str, Any]:
    """Return how fast each pair is, in bytes per second; nothing where no pairs were asked."""
    files = {path.name[len("pair") :]: path for path in sorted(folder.glob("pair*"))}
    links = {pair: float(path.read_text(encoding="utf-8")) for pair, path in files.items()}
    return {"works": True, "seen": f"{head}{len(links)} pairs", "links": links} if links else {}


def curve_told(head: str, ranks: int, folder: Path, device: str) -> dict[str, Any]:
    """Return how long each size takes, and the bus bandwidth that it comes to.

    The best try tells how fast a link is: a host that is busy for a moment is no slow link. What
    one takes a server is the median of all tries on cards. On a CPU it is their mean, for a pass
    pays the sum of all waits for a processor; they are chance, which no larger message is less for.
    """
    of_ranks = [
        json.loads((folder / f"spans{rank}").read_text(encoding="utf-8")) for rank in range(ranks)
    ]
    kind = kind_of(device)
    took = {
        size: [
            once([spans[size][at] for spans in of_ranks], rounds_of(kind, int(size)))
            for at in range(len(tries))
        ]
        for size, tries in of_ranks[0].items()
    }
    speeds = {
        size: int(size) / min(tries) * 2 * (ranks - 1) / ranks for size, tries in took.items()
    }
    shown = [f"{speeds[size] / 1e9:.2f} GB/s at {size} B" for size in speeds if int(size) in SHOWN]
    seen = f"{head}all-reduce and all-gather give every value right; bus bandwidth "
    return {
        "works": True,
        "seen": seen + ", ".join(shown),
        "bytes_per_s": speeds,
        "seconds": usual(took) if kind == "cpu" else {size: median(took[size]) for size in took},
    }


def usual(took: dict[str, list[float]]) -> dict[str, float]:
    """Return the mean of each size's tries, and one for all of those that would fall with size."""
    means = {size: mean(tries) for size, tries in took.items()}
    levels: list[list[str]] = []
    for size in means:
        levels.append([size])
        while len(levels) > 1 and level_of(levels[-2], means) > level_of(levels[-1], means):
            last = levels.pop()
            levels[-1] += last
    return {size: level_of(level, means) for level in levels for size in level}


def level_of(sizes: list[str], means: dict[str, float]) -> float:
    """Return what messages of these sizes take on average."""
    return mean(means[size] for size in sizes)


def once(spans: Any, rounds: int) -> float:
    """Return how long a message takes from when the last rank has come until all have it."""
    began, ended = max(begin for begin, _ in spans), max(end for _, end in spans)
    return float(max((ended - began) / rounds, 1e-9))


if __name__ == "__main__":
    sys.exit(main())
