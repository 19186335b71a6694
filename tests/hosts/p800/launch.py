"""Emulated `sglang-kunlun-launch`: real SGLang on this machine's CPU, in front of which it stands.

Run by path: FOLDER ARGUMENTS… . FOLDER/host.json names the real Python and what goes wrong. It says
the lines that the plugin says (grade A), notes which cards it is on, and hands on to SGLang.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

LINES = """\
XCCL emulated/libbkcl.so loaded
SYMBOL_REWRITE torch success
OOT platform plugin activated: kunlun -> sglang_kunlun.platform:KunlunSRTPlatform
Executed general plugin: kunlun_hooks
sglang-kunlun: 1 hook modules registered, 0 triton ops and 0 jit ops installed
"""
OUT_OF_MEMORY = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. (emulated)\n"
)
# In the form of PyTorch's allocator (grade A): enough in all, and in no one piece.
FRAGMENTED = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total "
    "capacity of 96.00 GiB of which 1.20 GiB is free. Of the allocated memory 90.00 GiB is "
    "allocated by PyTorch, and 3.10 GiB is reserved by PyTorch but unallocated. (emulated)\n"
)
# Arguments of a card that this CPU has not; each is followed by a value.
OF_A_CARD = frozenset(
    {"--attention-backend", "--page-size", "--cuda-graph-max-bs", "--mem-fraction-static"}
)
ON_THIS_CPU = (
    *("--device", "cpu", "--attention-backend", "torch_native", "--mem-fraction-static", "0.2"),
    *("--max-total-tokens", "16384", "--sleep-on-idle"),
)
# After so many requests a fault under load comes: more than the fixed prompts take.
REQUESTS = 40
FATAL = {"oom-under-load": OUT_OF_MEMORY, "dead-mid-run": ""}
# What the server says once and lives on.
SURVIVED = {"fragmented": FRAGMENTED}


def main() -> int:
    """Stand in front of SGLang, as the real program does."""
    folder, words = Path(sys.argv[1]), sys.argv[2:]
    host = json.loads((folder / "host.json").read_text(encoding="utf-8"))
    cards = _cards(host)
    noted = ",".join(str(card) for card in cards)
    (folder / "processes" / str(os.getpid())).write_text(noted, encoding="utf-8")
    sys.stdout.write(LINES)
    sys.stdout.flush()
    if "oom-at-load" in host["faults"]:
        sys.stderr.write(OUT_OF_MEMORY)
        return 1
    command = [host["real_python"], "-m", "sglang.launch_server", *_arguments(words)]
    found = {"PYTHONPATH": host["beside"]} if "beside" in host else {}
    variables = {**_variables(len(cards)), **found}
    under_load = [fault for fault in (*FATAL, *SURVIVED) if fault in host["faults"]]
    if not under_load:
        os.execve(command[0], command, variables)
    words_said = {**FATAL, **SURVIVED}[under_load[0]]
    return _until_loaded(command, variables, words_said, lives_on=under_load[0] in SURVIVED)


def _cards(host: Mapping[str, Any]) -> list[int]:
    """Return the cards of the host that torch would be on, by their index in xpu-smi."""
    chosen = os.environ["CUDA_VISIBLE_DEVICES"]
    if os.environ["XPU_VISIBLE_DEVICES"] != chosen:
        raise SystemExit("emulated: both variables of visibility must be equal")
    order = list(range(host["cards"]))
    if "other-order" in host["faults"]:
        order.reverse()
    return [order[int(number)] for number in chosen.split(",")]


def _arguments(words: Sequence[str]) -> list[str]:
    kept: Iterator[str] = iter(words)
    return [*(word for word in kept if not (word in OF_A_CARD and next(kept))), *ON_THIS_CPU]


def _variables(ranks: int) -> Mapping[str, str]:
    """Return the environment under which SGLang serves on this CPU, one core a rank."""
    cores = sorted(os.sched_getaffinity(0))
    bound = "|".join(str(cores[rank % len(cores)]) for rank in range(ranks))
    own = {"SGLANG_CPU_OMP_THREADS_BIND": bound, "OMP_NUM_THREADS": "1"}
    kept = {name: text for name, text in os.environ.items() if not name.startswith("SGLANG_")}
    return {**kept, **own}


def _until_loaded(
    command: Sequence[str], variables: Mapping[str, str], last_words: str, *, lives_on: bool
) -> int:
    """Serve until the load is there, then die of a fault with everything below, or live on."""
    server: Any = subprocess.Popen(
        command,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    signal.signal(signal.SIGTERM, lambda *_: server.terminate())
    seen = 0
    for line in server.stdout:
        sys.stdout.write(line)
        sys.stdout.flush()
        seen += '"POST /generate' in line
        if seen >= REQUESTS:
            sys.stdout.write(last_words)
            sys.stdout.flush()
            if lives_on:
                last_words = ""
                continue
            os.killpg(server.pid, signal.SIGKILL)
            return 1
    return int(server.wait())


if __name__ == "__main__":
    sys.exit(main())
