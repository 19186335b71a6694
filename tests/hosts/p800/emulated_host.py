"""What the emulated Python side knows of its host: which faults there are, and which card it is on.

Imported by the emulated torch only, from the folder that the emulated Python puts first.
"""

import json
import os
from pathlib import Path

_HOST = json.loads(Path(os.environ["EMULATED_P800"], "host.json").read_text(encoding="utf-8"))
FAULTS = frozenset(_HOST["faults"])


def visible() -> list[int]:
    """Return the cards that this process may see, in the order in which torch counts them.

    In a container only those count whose nodes it was given (inferred).
    """
    order = list(range(_HOST["cards"]))
    if "other-order" in FAULTS:
        order.reverse()
    if nodes := os.environ.get("EMULATED_NODES"):
        order = [card for card in order if f"/dev/xpu{card}" in nodes.split(",")]
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    return order if chosen is None else [order[int(number)] for number in chosen.split(",")]


def here() -> int:
    """Return the first card that this process may see."""
    return visible()[0]
