"""The CPU as a chip: each core this process may run on is a card."""

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from runners.devices.device import Card, CardSample, Memory

_CPUINFO = Path("/proc/cpuinfo")


class NoCardsError(ValueError):
    """A server needs at least one card."""


@dataclass(frozen=True, slots=True)
class CpuDevice:
    """One rank a core, one thread a rank, and the memory shared by all."""

    name: str = "cpu"
    interface_version: int = 2

    def cards(self) -> tuple[Card, ...]:
        """Return the cores of this process's affinity, in the order of their numbers."""
        return tuple(Card(core, "cpu", "core") for core in sorted(os.sched_getaffinity(0)))

    def environment(self, cards: Sequence[Card]) -> Mapping[str, str]:
        """Return what gives each rank its core. Raises NoCardsError for none.

        SGLang refuses more ranks than there are NUMA nodes unless each rank's cores are named.
        """
        if not cards:
            raise NoCardsError("no card was given to serve on")
        return {
            "SGLANG_CPU_OMP_THREADS_BIND": "|".join(str(card.number) for card in cards),
            "OMP_NUM_THREADS": "1",
        }

    def memory(self, card: Card) -> Memory:  # noqa: ARG002 (every core has the same memory)
        """Return the host's memory."""
        memory = psutil.virtual_memory()
        return Memory(free_bytes=memory.available, total_bytes=memory.total)

    def samples(self) -> Sequence[CardSample]:
        """Return nothing: a core is no card that anybody could be alone on."""
        return ()

    def facts(self) -> Mapping[str, str]:
        """Return the kernel's release and the processor's name."""
        return {"linux": platform.release(), "cpu": processor(_CPUINFO.read_text(encoding="utf-8"))}


def processor(cpuinfo: str) -> str:
    """Return the processor's name in the text of /proc/cpuinfo, or 'unknown'."""
    for line in cpuinfo.splitlines():
        field, _, value = line.partition(":")
        if field.strip() == "model name":
            return value.strip()
    return "unknown"
