"""Cards that somebody outside gives to this process: Slurm, a device plugin, an operator."""

from collections.abc import Mapping, Sequence

from runners.devices.device import Card

# Slurm names whole cards of the host by their place in its list of device nodes (/dev/xpuN), as
# gres.conf is written by everybody: inferred from its documents, and untried on such a cluster.
SLURM = ("SLURM_STEP_GPUS", "SLURM_JOB_GPUS")
NODE = "xpu"


class AllocationError(ValueError):
    """An outer allocation names cards that are not here."""

    def __init__(self, name: str, cards: Sequence[Card]) -> None:
        here = ", ".join(str(card.uuid or card.number) for card in cards) or "none"
        super().__init__(
            f"the allocation names the card {name!r}, and here are {here}: write UUIDs, PCI "
            "addresses, device nodes or the tool's numbers into KUNLINE_ALLOCATED, by commas"
        )


def allocated(
    cards: Sequence[Card], setting: str, variables: Mapping[str, str]
) -> tuple[Card, ...]:
    """Return those of the cards that an outer allocation gives us; all where there is none.

    setting: by commas; else what Slurm says. In a pod the cards of others are not there at all.
    Raises AllocationError.
    """
    names = [name.strip() for name in setting.split(",") if name.strip()] or _slurm(variables)
    if not names:
        return tuple(cards)
    chosen = [_named(name, cards) for name in names]
    return tuple(card for card in cards if card in chosen)


def _slurm(variables: Mapping[str, str]) -> Sequence[str]:
    told = next((variables[name] for name in SLURM if variables.get(name)), "")
    return [f"{NODE}{place.strip()}" for place in told.split(",") if place.strip()]


def _named(name: str, cards: Sequence[Card]) -> Card:
    for card in cards:
        if _plain(name) in _names(card):
            return card
    raise AllocationError(name, cards)


def _names(card: Card) -> frozenset[str]:
    minor = card.number if card.minor is None else card.minor
    told = (card.uuid, card.address, f"{NODE}{minor}", str(card.number))
    return frozenset(_plain(name) for name in told if name is not None)


def _plain(name: str) -> str:
    """Return a name as all spellings of it have it: 00000000:03:00.0 is 0000:03:00.0."""
    bare = name.lower().removeprefix("/dev/").removeprefix("gpu-")
    return bare.removeprefix("0000") if bare.count(":") == 2 and len(bare) > 12 else bare  # noqa: PLR2004 — a PCI address
