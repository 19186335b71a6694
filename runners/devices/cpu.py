"""The CPU as a chip: each core this process may run on is a card."""

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import psutil

from runners.devices.device import Card, CardSample, Memory, Probe
from runners.devices.host import Host


class NoCardsError(ValueError):
    """A server needs at least one card."""


@dataclass(frozen=True, slots=True)
class CpuDevice:
    """One rank a core, one thread a rank, and the memory shared by all."""

    host: Host = field(default_factory=Host)
    interface_version: ClassVar[int] = 3

    @property
    def name(self) -> str:
        """The chip's name."""
        return "cpu"

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

    def topology(self) -> None:
        """Return nothing: cores are no cards with links between them."""

    def facts(self) -> Mapping[str, str]:
        """Return the kernel's release and the processor's name."""
        return below_everything(self.host)

    def problems(self) -> Sequence[str]:
        """Return nothing: a core that runs this code is well enough."""
        return ()

    def probe(self) -> Probe:
        """Return what torch calls a CPU."""
        return Probe(torch_device="cpu", collectives="gloo")


def below_everything(host: Host) -> Mapping[str, str]:
    """Return what lies below every chip: the kernel's release and the processor's name."""
    return {"linux": platform.release(), "cpu": processor(host.text("/proc/cpuinfo"))}


def processor(cpuinfo: str) -> str:
    """Return the processor's name in the text of /proc/cpuinfo, or 'unknown'."""
    for line in cpuinfo.splitlines():
        field, _, value = line.partition(":")
        if field.strip() == "model name":
            return value.strip()
    return "unknown"
