"""What a chip family must tell of itself, and the lookup of families by name."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Protocol

from runners.devices.host import DeviceError, Host

GROUP = "kunline.devices"

# Raised when the protocol below changes in a way that an older device does not satisfy.
INTERFACE_VERSION = 3


@dataclass(frozen=True, slots=True)
class Card:
    """One accelerator: its number on this host, its model, its form ('OAM', 'PCIe', 'core').

    uuid, address (PCI) and minor (of its device node) are how other tools call it, where known.
    ordinal: its number in the order of the runtime inside the measured Python, once it was asked.
    """

    number: int
    model: str
    form: str
    uuid: str | None = None
    address: str | None = None
    minor: int | None = None
    ordinal: int | None = None


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
    utilisation, a ratio. pids: processes on it that this PID namespace shows. power_w: draw.
    clock_hz: of its computing units. ecc_uncorrected: errors since the driver was loaded.
    memory_bytes: used, from which the peak of a load is told.
    """

    number: int
    memory_used: float | None = None
    clock: float | None = None
    temperature_c: float | None = None
    temperature_limit_c: float | None = None
    busy: float | None = None
    pids: tuple[int, ...] | None = None
    power_w: float | None = None
    clock_hz: float | None = None
    ecc_uncorrected: int | None = None
    memory_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Topology:
    """How cards and NICs hang together.

    links: by pair of names ('XPU0', 'NIC1'), the tool's word for the way between them. nics: a
    NIC's name by its column. numa: a card's NUMA node, as written. digest: of all of it.
    """

    links: Mapping[tuple[str, str], str]
    nics: Mapping[str, str] = field(default_factory=dict)
    numa: Mapping[str, str] = field(default_factory=dict)
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Probe:
    """What a probe inside the measured Python is told of this chip.

    torch_device: the name of its devices in torch. collectives: the backend that
    torch.distributed is asked for. has_events, has_graphs: whether there is anything to check.
    """

    torch_device: str
    collectives: str
    has_events: bool = False
    has_graphs: bool = False


class Device(Protocol):
    """One chip family on this host.

    The entry point names a class or a function that is called with a Host and returns this. It
    carries interface_version as an attribute of its own, the INTERFACE_VERSION that it was written
    for, so that it is looked at before anything is called. What goes wrong is a DeviceError.
    """

    @property
    def name(self) -> str:
        """The chip's name, as stack files write it."""
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

    def topology(self) -> Topology | None:
        """Return how the cards of this host hang together; None where there is no such thing."""
        ...

    def facts(self) -> Mapping[str, str]:
        """Return versions of what is below the measured Python, by component name.

        What cannot be seen is 'unknown', or 'unknown(permission)'.
        """
        ...

    def problems(self) -> Sequence[str]:
        """Return what is wrong with the cards and what to do about it, a sentence each."""
        ...

    def probe(self) -> Probe:
        """Return what a probe inside the measured Python must know."""
        ...


class UnknownChipError(LookupError):
    """No installed device drives the chip that a stack asks for."""

    def __init__(self, chip: str, known: Sequence[str]) -> None:
        super().__init__(
            f"no device for chip {chip!r} is installed here; there are {', '.join(known) or 'none'}"
        )


class DeviceInterfaceError(RuntimeError):
    """A device was written for another revision of the protocol, or cannot be loaded whole."""

    def __init__(self, found: EntryPoint, why: str) -> None:
        bringer = f" of {found.dist.name}" if found.dist else ""
        super().__init__(f"device {found.name!r}{bringer} ({found.value}) is not used: {why}")


class JoinError(DeviceError, ValueError):
    """Two lists of the same cards do not fit together."""


def chips() -> tuple[str, ...]:
    """Return the names of the chips that an installed device drives, sorted."""
    return tuple(sorted(entry_points(group=GROUP).names))


def device_for(chip: str, host: Host | None = None) -> Device:
    """Return the device that drives a chip on a host, by default the one this process is on.

    Raises UnknownChipError when none is installed, DeviceInterfaceError when it speaks another
    revision of the protocol, cannot be imported, or when two distributions drive the same chip.
    """
    found = tuple(entry_points(group=GROUP, name=chip))
    if not found:
        raise UnknownChipError(chip, chips())
    if len({point.value for point in found}) > 1:
        others = ", ".join(point.value for point in found[1:])
        raise DeviceInterfaceError(found[0], f"{others} drives it as well: uninstall one of them")
    made = _factory(found[0])
    device: Device = made(Host.of(os.environ) if host is None else host)
    return device


def _factory(found: EntryPoint) -> Any:
    """Return what makes a device, once it says that it is of our revision of the protocol."""
    try:
        factory = found.load()
    except Exception as error:
        why = f"it cannot be imported: {type(error).__name__}: {error}"
        raise DeviceInterfaceError(found, why) from error
    speaks = getattr(factory, "interface_version", None)
    if speaks != INTERFACE_VERSION:
        told = f"interface {speaks}" if isinstance(speaks, int) else "an interface it does not name"
        why = f"it speaks {told}, and this runner speaks interface {INTERFACE_VERSION}"
        raise DeviceInterfaceError(found, why)
    return factory


def with_ordinals(cards: Sequence[Card], uuids: Mapping[int, str]) -> tuple[Card, ...]:
    """Return the cards with their numbers in the runtime's order, joined by UUID.

    uuids: as the runtime tells them, by its own number; a leading 'GPU-' does not count. Raises
    JoinError for a card that the runtime does not show, or shows twice.
    """
    ordinals: dict[str, int] = {}
    for ordinal, uuid in uuids.items():
        if ordinals.setdefault(bare(uuid), ordinal) != ordinal:
            raise JoinError(f"the runtime shows the card {uuid} twice")
    for card in cards:
        if card.uuid is None or bare(card.uuid) not in ordinals:
            raise JoinError(
                f"card {card.number} ({card.uuid or 'no UUID'}) is not among those the runtime "
                f"shows: {', '.join(uuids.values()) or 'none'}"
            )
    return tuple(replace(card, ordinal=ordinals[bare(card.uuid or "")]) for card in cards)


def bare(uuid: str) -> str:
    """Return a UUID as all have it: a card's tool writes 'GPU-' before it, and torch does not."""
    return uuid.lower().removeprefix("gpu-")
