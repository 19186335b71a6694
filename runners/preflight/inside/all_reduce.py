"""Sum a tensor over several processes with this Python's torch and gloo, and check every value.

Run by path with a measured environment's Python; standard library and torch, Python 3.8 syntax.
argv: RANKS SECONDS. Prints one JSON line: {"works", "seen"}.
"""

import ctypes
import importlib
import json
import multiprocessing
import os
import signal
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

PR_SET_PDEATHSIG = 1
LENGTH = 1024


def rank_main(rank: int, ranks: int, seconds: float, store: str) -> None:
    """Be one rank; exit with 0 when the sum is right, with 3 when it is wrong."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    torch = importlib.import_module("torch")
    distributed = importlib.import_module("torch.distributed")
    distributed.init_process_group(
        "gloo",
        init_method=f"file://{store}",
        rank=rank,
        world_size=ranks,
        timeout=timedelta(seconds=seconds),
    )
    values = torch.arange(LENGTH, dtype=torch.float32) * (rank + 1)
    distributed.all_reduce(values)
    expected = torch.arange(LENGTH, dtype=torch.float32) * (ranks * (ranks + 1) / 2)
    right = bool(torch.equal(values, expected))
    distributed.destroy_process_group()
    sys.exit(0 if right else 3)


def main() -> int:
    """Start the ranks, wait for them, and say what was seen."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    ranks, seconds = int(sys.argv[1]), float(sys.argv[2])
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "store")
        processes = [
            spawn.Process(target=rank_main, args=(rank, ranks, seconds, store))
            for rank in range(ranks)
        ]
        for process in processes:
            process.start()
        for process in processes:
            process.join(seconds)
        codes = [process.exitcode for process in processes]
        for process in processes:
            if process.exitcode is None:
                process.kill()
                process.join()
    works = codes == [0] * ranks
    seen = f"gloo over {ranks} ranks: "
    seen += "every value is right" if works else f"the ranks ended with {codes} (3: a wrong value)"
    sys.stdout.write(json.dumps({"works": works, "seen": seen}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
