"""A device for a chip that does not exist: its cards are the lines of one file."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from runners.devices.device import Card, CardSample, Memory, Probe, Topology
from runners.devices.host import DeviceError, Host

CARDS = "/proc/abacus/cards"
BYTES = 16 * 2**30


class AbacusError(DeviceError, ValueError):
    """The driver's file is not what it is known to be."""


class AbacusDevice:
    """One card a line of /proc/abacus/cards: '<number> <bytes used>'."""

    interface_version: ClassVar[int] = 3
    name = "abacus"

    def __init__(self, host: Host) -> None:
        self._host = host

    def cards(self) -> tuple[Card, ...]:
        """Return a card for each line."""
        return tuple(Card(number, "Abacus", "frame") for number in self._used())

    def environment(self, cards: Sequence[Card]) -> Mapping[str, str]:
        """Return the variable that hides the other cards."""
        return {"ABACUS_VISIBLE_FRAMES": ",".join(str(card.number) for card in cards)}

    def memory(self, card: Card) -> Memory:
        """Return a card's memory."""
        return Memory(BYTES - self._used()[card.number], BYTES)

    def samples(self) -> Sequence[CardSample]:
        """Return what the file tells; an abacus has no clock, so none is told."""
        return [
            CardSample(number, memory_used=used / BYTES) for number, used in self._used().items()
        ]

    def topology(self) -> Topology | None:
        """Return nothing: the cards know nothing of each other."""
        return None

    def facts(self) -> Mapping[str, str]:
        """Return the driver's version."""
        return {"abacus-driver": self._host.text("/proc/abacus/version")}

    def problems(self) -> Sequence[str]:
        """Return nothing: beads do not break."""
        return ()

    def probe(self) -> Probe:
        """Return what torch would call it."""
        return Probe(torch_device="abacus", collectives="gloo")

    def _used(self) -> dict[int, int]:
        found = {}
        for line in self._host.text(CARDS).splitlines():
            number, _, used = line.partition(" ")
            if not (number.isdigit() and used.isdigit()):
                raise AbacusError(f"{CARDS}: not '<number> <bytes>': {line!r}")
            found[int(number)] = int(used)
        return found
