"""The links between the cards of a launch, each by itself: a slow one is named among its peers."""

from collections.abc import Mapping, Sequence

from runners.devices.device import Card, Device, Probe
from runners.devices.host import DeviceError
from runners.preflight.layers import Breaks, Found, Works
from runners.preflight.measured import SLOW, MeasuredPython
from service.domain.communication import LEAST_PEERS, slow_links

Pair = tuple[int, int]


def speeds(
    inside: MeasuredPython, cards: Sequence[Card], probe: Probe, limit_s: float
) -> Mapping[Pair, float]:
    """Return bytes per second of each two cards by themselves, by their numbers.

    None for so few cards that no link has peers, and where they could not be measured: collectives
    work already, so that says nothing against them.
    """
    if len(cards) < LEAST_PEERS:
        return {}
    told = inside.links(len(cards), limit_s, probe=probe)
    numbers = [card.number for card in cards]
    return {(numbers[one], numbers[other]): speed for (one, other), speed in told.items()}


def named(found: Works, device: Device, measured: Mapping[Pair, float]) -> Found:
    """Return a finding with every link in it that is slower than its peers, by the topology."""
    slow = slow_links(measured, _ways(device))
    seen = "\n".join((found.finding, *(link.sentence for link in slow)))
    return Breaks(seen, SLOW) if any(link.is_broken for link in slow) else Works(seen)


def _ways(device: Device) -> Mapping[Pair, str]:
    """Return the tool's word for the way between two cards, by their numbers; none if untold."""
    try:
        topology = device.topology()
    except DeviceError:
        return {}
    return {
        (int(one[3:]), int(other[3:])): word
        for (one, other), word in (topology.links if topology else {}).items()
        if one.startswith("XPU") and other.startswith("XPU")
    }
