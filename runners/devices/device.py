"""What a chip family must tell of itself, and the lookup of families by name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Protocol

GROUP = "kunline.devices"

# Raised when the protocol below changes in a way that an older device does not satisfy.
INTERFACE_VERSION = 2


@dataclass(frozen=True, slots=True)
class Card:
    """One accelerator: its number on this host, its model, its form ('OAM', 'PCIe', 'core')."""

    number: int
    model: str
    form: str


@dataclass(frozen=True, slots=True)
class Memory:
    """A card's memory in bytes."""

    free_bytes: int
    total_bytes: int


@dataclass(frozen=True, slots=True)
class CardSample:
    """One card at one moment. None is what the card, or our rights, do not tell; never a guess.

    memory_used: used over total, a ratio. clock: over the clock it is set to, a ratio.
    temperature_c, temperature_limit_c: degrees Celsius now, and from where on it slows down. busy:
    utilisation, a ratio. pids: processes on it that this PID namespace shows.
    """

    number: int
    memory_used: float | None = None
    clock: float | None = None
    temperature_c: float | None = None
    temperature_limit_c: float | None = None
    busy: float | None = None
    pids: tuple[int, ...] | None = None


class Device(Protocol):
    """One chip family on this host.

    interface_version: the INTERFACE_VERSION it was written for. It is checked before any use.
    """

    @property
    def name(self) -> str:
        """The chip's name, as stack files write it."""
        ...

    @property
    def interface_version(self) -> int:
        """The revision of this protocol."""
        ...

    def cards(self) -> tuple[Card, ...]:
        """Return the cards that this process may use, by number; none where there is none."""
        ...

    def environment(self, cards: Sequence[Card]) -> Mapping[str, str]:
        """Return the variables under which a server sees these cards alone, rank by rank."""
        ...

    def memory(self, card: Card) -> Memory:
        """Return a card's memory as it is now."""
        ...

    def samples(self) -> Sequence[CardSample]:
        """Return every card of this host as it is now, those of others included.

        It is called before a launch and each second under load, so it takes little time. None at
        all says that this chip has no cards of its own to look at, as a CPU.
        """
        ...

    def facts(self) -> Mapping[str, str]:
        """Return versions of what is below the measured Python, by component name."""
        ...


class UnknownChipError(LookupError):
    """No installed device drives the chip that a stack asks for."""

    def __init__(self, chip: str, known: Sequence[str]) -> None:
        super().__init__(
            f"no device for chip {chip!r} is installed here; there are {', '.join(known) or 'none'}"
        )


class DeviceInterfaceError(RuntimeError):
    """A device was written for another revision of the protocol."""

    def __init__(self, device: Device) -> None:
        super().__init__(
            f"device {device.name!r} speaks interface {device.interface_version}, "
            f"and this runner speaks {INTERFACE_VERSION}"
        )


def chips() -> tuple[str, ...]:
    """Return the names of the chips that an installed device drives, sorted."""
    return tuple(sorted(entry_points(group=GROUP).names))


def device_for(chip: str) -> Device:
    """Return the device that drives a chip.

    Raises UnknownChipError when none is installed, DeviceInterfaceError when it speaks another
    revision of the protocol.
    """
    found = entry_points(group=GROUP, name=chip)
    if not found:
        raise UnknownChipError(chip, chips())
    device: Device = next(iter(found)).load()()
    if device.interface_version != INTERFACE_VERSION:
        raise DeviceInterfaceError(device)
    return device
