"""Checks of each card by itself, inside the measured Python: one process a card, layer by layer.

A bad card hangs in the first kernel while every query of it looks fine, so each card is asked
alone and within a limit, and the one that hangs is named.
"""

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from select import select
from typing import IO, Any

from runners.devices.device import Card, Device, bare
from runners.preflight.layers import Breaks, Found, Skipped, Works
from service.domain.layer import Layer

SCRIPT = Path(__file__).with_name("inside") / "one_card.py"
ERROR_CHARACTERS = 1200
READ_BYTES = 2**16
CPU = "cpu"
REMEDIES: Mapping[Layer, str] = {
    Layer.MEMORY: "end what else holds the card's memory; if nothing does, restart the host",
    Layer.COPY: "take the card out of service: what is copied to it must come back as it was",
    Layer.STREAM: "unset XPU_DUMMY_EVENT, and check that torch and the runtime are of one drop",
    Layer.OPERATOR: "take the card out of service; or, if every card fails, check torch's build "
    "against the driver, and that kernel packages and torch are of one drop",
    Layer.GRAPH: "serve with graphs off (--disable-cuda-graph), or change torch and runtime",
}
HANGS = (
    "take the card out of service and read the kernel's log: a bad card hangs in its first kernel "
    "while its queries look fine"
)
OTHER_CARD = (
    "this Python sees other cards than xpu-smi names: look which device nodes reach it, and "
    "whether CUDA_DEVICE_ORDER or a visibility variable is set where it starts"
)


@dataclass(slots=True)
class _Asked:
    """One process that answers for a card. errors: where it writes what it complains of."""

    process: subprocess.Popen[bytes]
    errors: IO[bytes]
    unread: bytes = b""

    def ask(self, layer: Layer, limit_s: float) -> Mapping[str, Any]:
        """Return what it says of a layer; what went wrong instead, in the same shape."""
        until = time.monotonic() + limit_s
        assert self.process.stdin is not None  # noqa: S101 — it was opened as a pipe
        with suppress(BrokenPipeError):
            self.process.stdin.write(f"{layer}\n".encode())
            self.process.stdin.flush()
        line = self._line(until)
        if line is None:
            return {"works": False, "hangs": True, "seen": f"no answer after {limit_s:.0f} s"}
        try:
            return dict(json.loads(line))
        except (ValueError, TypeError):
            return {"works": False, "seen": f"the probe ended: {self._complaint()}"}

    def _line(self, until: float) -> bytes | None:
        """Return the next line of its stdout; an empty one at its end, None when it is late."""
        assert self.process.stdout is not None  # noqa: S101 — it was opened as a pipe
        descriptor = self.process.stdout.fileno()
        while b"\n" not in self.unread:
            ready, _, _ = select([descriptor], [], [], max(until - time.monotonic(), 0))
            if not ready:
                return None
            piece = os.read(descriptor, READ_BYTES)
            if not piece:
                return b""
            self.unread += piece
        # Libraries print on stdout as well; the last whole line is the answer if it is JSON.
        line, _, self.unread = self.unread.partition(b"\n")
        return line if line.startswith(b"{") else self._line(until)

    def _complaint(self) -> str:
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace").strip()[-ERROR_CHARACTERS:]

    def end(self) -> None:
        """End it with all that it started."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        # A process that hangs in a driver cannot be ended by anybody; it is not waited for long.
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=5)
        for stream in (self.process.stdin, self.process.stdout, self.errors):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()


@dataclass(slots=True)
class CardProbes:
    """The processes that answer for these cards. They start when first asked, and end together.

    variables: all that they see, but for those that choose a card. The cores of a CPU are one
    device of torch, and are asked as one.
    """

    python: Path
    variables: Mapping[str, str]
    device: Device
    cards: Sequence[Card]
    _running: dict[int, _Asked] = field(default_factory=dict)

    def check(self, layer: Layer, limit_s: float) -> Found:
        """Return what the cards say of a layer: the first that does not work decides."""
        probe = self.device.probe()
        if layer is Layer.GRAPH and not probe.has_graphs:
            return Skipped(f"{self.device.name}: torch captures no graphs there")
        if layer is Layer.STREAM and not probe.has_events:
            return Skipped(f"{self.device.name}: it has no streams of its own; time is the clock's")
        if not self.cards:
            return Breaks("no card is there to look at")
        asked = self._started()
        with ThreadPoolExecutor(len(asked)) as threads:
            said = list(threads.map(lambda each: each.ask(layer, limit_s), asked.values()))
        return self._foreign(said) or _found(layer, self._names(), said)

    def end(self) -> None:
        """End the processes; a card that is asked again gets a new one."""
        for asked in self._running.values():
            asked.end()
        self._running.clear()

    def _foreign(self, said: Sequence[Mapping[str, Any]]) -> Breaks | None:
        """Return that torch is on another card than the one asked for, or None.

        Numbers are joined before, yet what a card says must be said of that card and no other.
        """
        for card, each in zip(self.cards, said, strict=False):
            uuid = each.get("uuid")
            if uuid and card.uuid and bare(uuid) != bare(card.uuid):
                seen = f"card {card.number} is {card.uuid}, and torch is on {uuid} under its number"
                return Breaks(seen, OTHER_CARD)
        return None

    def _names(self) -> list[str]:
        if self.device.probe().torch_device == CPU:
            return ["the CPU"]
        return [f"card {card.number}" for card in self.cards]

    def _started(self) -> Mapping[int, _Asked]:
        if not self._running:
            name = self.device.probe().torch_device
            alone = self.cards[:1] if name == CPU else self.cards
            torch_name = CPU if name == CPU else f"{name}:0"
            self._running = {card.number: self._process(card, torch_name) for card in alone}
        return self._running

    def _process(self, card: Card, torch_name: str) -> _Asked:
        errors = tempfile.TemporaryFile()  # noqa: SIM115 — it is closed with its process
        process = subprocess.Popen(
            [str(self.python), "-I", str(SCRIPT), torch_name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env={**self.variables, **self.device.environment((card,))},
            start_new_session=True,
        )
        return _Asked(process, errors)


def _found(layer: Layer, names: Sequence[str], said: Sequence[Mapping[str, Any]]) -> Found:
    """Return one finding of what every card said."""
    for name, each in zip(names, said, strict=True):
        if not each.get("works"):
            remedy = HANGS if each.get("hangs") else REMEDIES[layer]
            return Breaks(f"{name}: {each.get('seen', '')}", remedy)
    seen = [f"{name}: {each.get('seen', '')}" for name, each in zip(names, said, strict=True)]
    return Works("\n".join(seen))
