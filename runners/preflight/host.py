"""Checks of the host and of what was put on it: cards, packages, memory, weights."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from runners.devices.device import Card, Device
from runners.preflight.layers import Breaks, Found, Works
from service.domain.stack import Stack, drift

GIB = 2**30


def device(chip: str, cards: Sequence[Card], asked: int) -> Found:
    """Check that the runner holds as many cards as are asked for."""
    there = len(cards)
    if there < asked:
        remedy = "run this cell on a host with more cards, or ask for fewer"
        return Breaks(f"{asked} cards are asked for, and {there} are here", remedy)
    return Works(f"{there} cards of chip {chip}")


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
    free = min(chip.memory(card).free_bytes for card in cards)
    seen = f"{free / GIB:.1f} GiB free, {needed_bytes / GIB:.1f} GiB needed"
    if free < needed_bytes:
        return Breaks(seen, "end what else runs on these cards, or use a smaller model")
    return Works(seen)


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
