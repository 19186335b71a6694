"""Check one card through this Python's torch, a layer for each line that is read.

Run by path with a measured environment's Python; standard library and torch, Python 3.8 syntax.
argv: DEVICE, as torch calls it. stdin: names of layers. Prints one JSON line a layer: {"works",
"seen", "uuid"}. It ends with its stdin, even while a card hangs, so it never outlives who asked.
"""

from __future__ import annotations

import importlib
import json
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

SIZE = 64
MIB = 2**20
BLOCK_BYTES = 64 * MIB
CPU_BLOCK_BYTES = 16 * MIB
# What an allocator may keep for itself of a block that was given back.
KEPT_BYTES = 8 * MIB
FILL = 7
LEFT_OVER = 3


class Card:
    """One device of torch, and a clock that waits for what was asked of it."""

    def __init__(self, torch: Any, name: str) -> None:
        self.torch = torch
        self.name = name
        self.is_cpu = name == "cpu"
        self.block_bytes = CPU_BLOCK_BYTES if self.is_cpu else BLOCK_BYTES
        if not self.is_cpu:
            torch.cuda.set_device(name)

    def uuid(self) -> str | None:
        """Return by which UUID torch knows the card; None where it tells none."""
        if self.is_cpu:
            return None
        told = getattr(self.torch.cuda.get_device_properties(self.name), "uuid", None)
        return None if told is None else str(told)

    def wait(self) -> None:
        """Wait until the card has done all that it was asked."""
        if not self.is_cpu:
            self.torch.cuda.synchronize()

    def timed(self, act: Callable[[], Any]) -> tuple[Any, float]:
        """Return what an act gave, and the wall-clock seconds until the card was done with it."""
        self.wait()
        began = time.perf_counter()
        made = act()
        self.wait()
        return made, max(time.perf_counter() - began, 1e-9)

    def free(self) -> int | None:
        """Return the card's free bytes; None for a CPU, where others take and give as well."""
        if self.is_cpu:
            return None
        self.torch.cuda.empty_cache()
        return int(self.torch.cuda.mem_get_info()[0])


def memory(card: Card) -> tuple[bool, str]:
    """Take a block, copy to all of it, read its end, and give it back; no kernel runs yet.

    It is done twice: what the first time leaves behind is the runtime's own, and no loss.
    """
    for _ in range(2):
        before = card.free()
        last = filled(card)
        after = card.free()
        if last != FILL:
            return False, f"{FILL} was written to a block, and {last} is read"
    if before is not None and after is not None and before - after > KEPT_BYTES:
        return False, f"{(before - after) // MIB} MiB of a block are not given back"
    return True, f"{card.block_bytes // MIB} MiB taken, written and given back"


def filled(card: Card) -> int:
    """Return the last value of a block that was taken and written to; it is free again then."""
    torch = card.torch
    block = torch.empty(card.block_bytes, dtype=torch.uint8, device=card.name)
    block.copy_(torch.full((card.block_bytes,), FILL, dtype=torch.uint8))
    return int(block[-1].item())


def copy(card: Card) -> tuple[bool, str]:
    """Copy to the card, on it, and back, and compare every value; the wall clock times it."""
    torch = card.torch
    host = torch.arange(card.block_bytes // 4, dtype=torch.int32)
    there, to_card = card.timed(lambda: host.to(card.name, copy=True))
    twin, on_card = card.timed(there.clone)
    back, to_host = card.timed(lambda: twin.to("cpu", copy=True))
    if not torch.equal(host, back):
        return False, "what comes back from the card is not what was sent to it"
    told = (("h2d", to_card), ("d2d", on_card), ("d2h", to_host))
    speeds = [f"{way} {card.block_bytes / took / 1e9:.1f} GB/s" for way, took in told]
    return True, "every value right; " + ", ".join(speeds)


def stream(card: Card) -> tuple[bool, str]:
    """Time a copy with events on a stream of its own; some stacks' events read 0."""
    torch = card.torch
    host = torch.arange(card.block_bytes // 4, dtype=torch.int32)
    side = torch.cuda.Stream()
    begin = torch.cuda.Event(enable_timing=True)
    end = torch.cuda.Event(enable_timing=True)
    began = time.perf_counter()
    with torch.cuda.stream(side):
        begin.record(side)
        there = host.to(card.name, copy=True)
        end.record(side)
    side.synchronize()
    wall_ms = (time.perf_counter() - began) * 1000
    if not torch.equal(host, there.to("cpu", copy=True)):
        return False, "what was copied on a stream of its own is not what was sent"
    told_ms = float(begin.elapsed_time(end))
    if told_ms > 0:
        return True, f"events tell {told_ms:.3f} ms of {wall_ms:.3f} ms by the wall clock"
    return True, f"events read 0 on this stack; the wall clock is used ({wall_ms:.3f} ms)"


def operator(card: Card) -> tuple[bool, str]:
    """Multiply small bfloat16 matrices of whole numbers, which bfloat16 holds exactly.

    It is the first kernel that runs on the card: what came before are copies.
    """
    left, right = matrices(card)
    product, took = card.timed(lambda: left @ right)
    said = f"torch {card.torch.__version__}: a {SIZE} x {SIZE} bfloat16 product"
    if not right_product(card, product):
        first = product.to(card.torch.float32).to("cpu")[0].tolist()
        return False, f"{said} is wrong: its first row is {first}"
    return True, f"{said} is right ({took * 1000:.1f} ms)"


def graph(card: Card) -> tuple[bool, str]:
    """Capture a product, replay it on two inputs, and compare each with the eager one."""
    torch = card.torch
    left, right = matrices(card)
    product = left @ right  # kernels are loaded before the capture, where that is not allowed
    card.wait()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        product = left @ right
    for factor in (1, 2):
        fresh = matrices(card)[0] * factor
        left.copy_(fresh)
        captured.replay()
        card.wait()
        if not torch.equal(product.to("cpu"), (fresh @ right).to("cpu")):
            return False, f"replay {factor} of a captured product differs from the eager one"
    return True, "captured once, replayed twice, equal to eager"


def matrices(card: Card) -> tuple[Any, Any]:
    """Return 0, 1, 2, 0, … in every row, and twice the unit matrix, on the card."""
    torch = card.torch
    rows = torch.arange(SIZE, dtype=torch.float32).remainder(LEFT_OVER).repeat(SIZE, 1)
    right = torch.eye(SIZE) * 2
    return rows.to(torch.bfloat16).to(card.name), right.to(torch.bfloat16).to(card.name)


def right_product(card: Card, product: Any) -> bool:
    """Return whether a product of the matrices is what it must be."""
    torch = card.torch
    rows = torch.arange(SIZE, dtype=torch.float32).remainder(LEFT_OVER).repeat(SIZE, 1)
    return bool(torch.equal(product.to(torch.float32).to("cpu"), rows * 2))


LAYERS: dict[str, Callable[[Card], tuple[bool, str]]] = {
    "memory": memory,
    "copy": copy,
    "stream": stream,
    "operator": operator,
    "graph": graph,
}


def asked() -> Iterator[str]:
    """Yield the lines of stdin; a thread of its own reads, and its end ends this process."""
    lines: queue.Queue[str] = queue.Queue()

    def read() -> None:
        for line in sys.stdin:
            lines.put(line.strip())
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    while True:
        yield lines.get()


def main() -> int:
    """Answer each layer; an exception of torch is an answer as well."""
    card = None
    for layer in asked():
        try:
            card = card or Card(importlib.import_module("torch"), sys.argv[1])
            works, seen = LAYERS[layer](card)
        except Exception as error:  # noqa: BLE001 — whatever torch raises is what is looked for
            works, seen = False, f"{type(error).__name__}: {error}"
        line = {"works": works, "seen": seen, "uuid": card.uuid() if card and works else None}
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
