"""The numbers that the measured torch gives the cards, which are neither xpu-smi's nor the nodes'.

Only the measured Python knows them: a container that sees one card counts it as number 0, whatever
it is called outside.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from runners.devices.device import Card, Device, JoinError, with_ordinals
from runners.preflight.measured import MeasuredPython
from service.domain.server_environment import VISIBLE

CPU = "cpu"
# Torch is imported for it; where that takes longer, the layers say what is wrong.
LIMIT_S = 120.0


def numbered(
    device: Device,
    cards: Sequence[Card],
    python: Path,
    variables: Mapping[str, str],
    limit_s: float = LIMIT_S,
) -> tuple[Card, ...]:
    """Return cards with their numbers inside the measured torch, joined by UUID.

    They come back as they are where torch does not tell, or tells of other cards: then a card's
    index stands for its number, and the check of its memory says which card torch is on.
    """
    if not cards or device.probe().torch_device == CPU:
        return tuple(cards)
    every = {name: text for name, text in variables.items() if name not in VISIBLE}
    uuids = MeasuredPython(python, every).uuids(limit_s)
    try:
        return with_ordinals(cards, uuids) if uuids else tuple(cards)
    except JoinError:
        return tuple(cards)


def said(cards: Sequence[Card]) -> str:
    """Return which number torch has for each card, in words; nothing where none is known."""
    known = [card for card in cards if card.ordinal is not None]
    if all(card.ordinal == card.number for card in known):
        return ""
    return "torch counts " + ", ".join(
        f"card {card.number} as cuda:{card.ordinal}" for card in known
    )
