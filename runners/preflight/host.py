"""Checks of the host and of what was put on it: cards, packages, memory, weights."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from runners.devices.device import Card, CardSample, Device, Topology
from runners.devices.host import DeviceError
from runners.preflight.layers import Breaks, Found, Skipped, Works
from runners.preflight.limits import REST_C
from service.domain.layer import Layer
from service.domain.stack import Stack, drift

GIB = 2**30


def device(chip: str, cards: Sequence[Card], asked: int) -> Found:
    """Check that the runner holds as many cards as are asked for."""
    there = len(cards)
    if there < asked:
        remedy = "run this cell on a host with more cards, or ask for fewer"
        return Breaks(f"{asked} cards are asked for, and {there} are here", remedy)
    return Works(f"{there} cards of chip {chip}")


def health(chip: Device, cards: Sequence[Card], asked: int, *, rest_c: float = REST_C) -> Found:
    """Check that the cards asked for are here, well, and nobody else's.

    What is wrong with a card that is not ours is whoever's it is.

    rest_c: degrees Celsius from which on a card without load is too hot, where it tells no limit.
    """
    try:
        problems, samples = _of_ours(chip, cards), chip.samples()
    except DeviceError as error:
        return Breaks(str(error), "make the vendor's tool answer on this host first")
    if problems:
        return Breaks("; ".join(problems), "do what the finding says, then check again")
    number = device(chip.name, cards, asked)
    mine = {card.number for card in cards[:asked]}
    for sample in samples:
        if sample.number in mine and (amiss := _amiss(sample, rest_c)):
            return amiss
    return number


def _of_ours(chip: Device, cards: Sequence[Card]) -> Sequence[str]:
    """Return what is wrong but with other cards alone, of which an outer allocation gave none."""
    problems = chip.problems()
    if not problems:
        return ()
    mine = {card.number for card in cards}
    others = [card for card in chip.cards() if card.number not in mine]
    theirs = tuple(begin for card in others for begin in _begins(card))
    return [problem for problem in problems if not problem.startswith(theirs)]


def _begins(card: Card) -> Sequence[str]:
    """Return how a sentence about one card begins, or about its node."""
    node = f"/dev/xpu{card.number if card.minor is None else card.minor}"
    return (f"card {card.number} ", f"{node} ", f"{node}:")


def _amiss(sample: CardSample, rest_c: float) -> Breaks | None:
    """Return what is wrong with a card that does not work yet, or None."""
    card = f"card {sample.number}"
    hot = sample.temperature_c
    if hot is not None and hot >= (sample.temperature_limit_c or rest_c):
        return Breaks(f"{card} is at {hot:.0f} C before any load", "let it cool, look at its fans")
    if sample.pids:
        who = ", ".join(str(pid) for pid in sample.pids)
        remedy = "end what else runs on this card, or lease another one"
        return Breaks(f"{card} is used by others: process {who}", remedy)
    return None


def pins(stack: Stack, observed: Mapping[str, str], layer: Layer) -> Found:
    """Check the components of one layer below the environment against the stack's pins."""
    of_layer = [each for each in stack.components if each.layer in _below(layer)]
    names = {each.name for each in of_layer}
    found = [each for each in drift(stack, observed) if each.field in names]
    if found:
        seen = "; ".join(str(difference) for difference in found)
        return Breaks(seen, f"install the {layer} that the stack pins, or measure it elsewhere")
    seen = ", ".join(f"{name} {observed[name]}" for name in sorted(names) if name in observed)
    pinned = any(not each.recorded for each in of_layer)
    if not pinned:
        told = f"; seen here: {seen}" if seen else ""
        return Skipped(f"the stack pins nothing of the {layer}{told}")
    return Works(seen or "what is pinned of it cannot be seen from here")


def _below(layer: Layer) -> frozenset[Layer]:
    """Return the layers whose components are held to the pins in a layer's check."""
    return frozenset({Layer.DEVICE, Layer.DRIVER} if layer is Layer.DRIVER else {layer})


def packages(stack: Stack, observed: Mapping[str, str]) -> Found:
    """Check what is installed against what the stack pins: stack drift."""
    found = drift(stack, observed)
    if found:
        remedy = "build the stack anew, or change the pin if the new version is meant"
        return Breaks("; ".join(str(difference) for difference in found), remedy)
    pinned = [component for component in stack.components if not component.recorded]
    seen = sum(1 for component in pinned if component.name in observed)
    return Works(f"{seen} of {len(pinned)} pinned components seen, none drifted")


def memory(chip: Device, cards: Sequence[Card], *, needed_bytes: int) -> Found:
    """Check that every card has the memory free that its share of the model needs."""
    if not cards:
        return Breaks("no card is there to look at")
    try:
        free = min(chip.memory(card).free_bytes for card in cards)
    except DeviceError as error:
        return Breaks(str(error), "make the vendor's tool answer on this host first")
    seen = f"{free / GIB:.1f} GiB free, {needed_bytes / GIB:.1f} GiB needed"
    if free < needed_bytes:
        return Breaks(seen, "end what else runs on these cards, or use a smaller model")
    return Works(seen)


def between(chip: Device, cards: Sequence[Card]) -> str:
    """Return how cards are connected, and to which NICs; nothing where that is not told."""
    try:
        topology = chip.topology()
    except DeviceError as error:
        return f"links: {error}"
    if topology is None:
        return ""
    names = [f"XPU{card.number}" for card in cards]
    pairs = [
        f"{one}-{other} {topology.links.get((one, other), 'unknown')}"
        for place, one in enumerate(names)
        for other in names[place + 1 :]
    ]
    return f"links: {', '.join(pairs)}; NICs: {_nics(topology, names)}"


def _nics(topology: Topology, names: Sequence[str]) -> str:
    """Return the NICs nearest to these cards, by how the matrix names their ways."""
    near = [
        f"{name}-{title} {topology.links[name, column]}"
        for name in names
        for column, title in topology.nics.items()
        if topology.links.get((name, column)) in {"PIX", "PXB"}
    ]
    return ", ".join(near) or "none behind the same bridge"


def weights(
    folder: Path,
    *,
    ordered: Mapping[str, str],
    digest: Mapping[str, Callable[[Path], str]],
) -> Found:
    """Check that the files are the ones ordered.

    ordered: digests by what they are of ('weights', 'tokenizer'). digest: how each is taken; a
    ValueError or OSError of it is a finding.
    """
    remedy = "stage the model anew, or order the digest of what is here"
    for name, wanted in ordered.items():
        try:
            there = digest[name](folder)
        except (ValueError, OSError) as error:
            return Breaks(f"{name}: {error}", remedy)
        if there != wanted:
            return Breaks(
                f"{name} at {folder}: {there[:12]} is here, {wanted[:12]} ordered", remedy
            )
    return Works("the digests are those ordered")


def weights_bytes(folder: Path) -> int:
    """Return the size of a model's weight files."""
    return sum(path.stat().st_size for path in folder.glob("*.safetensors"))
