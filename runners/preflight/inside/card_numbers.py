"""Print the UUID of every card that this Python's torch counts, by its number there.

Run by path with a measured environment's Python; standard library and torch, Python 3.8 syntax.
Prints one JSON object as its last line. It asks for properties alone and takes no memory.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any


def told(cuda: Any) -> dict[str, str]:
    """Return UUIDs by number, those of cards that have none left out."""
    found = {}
    for number in range(cuda.device_count()):
        uuid = getattr(cuda.get_device_properties(number), "uuid", None)
        if uuid is not None:
            found[str(number)] = str(uuid)
    return found


def main() -> int:
    """Say what torch counts."""
    torch = importlib.import_module("torch")
    sys.stdout.write(json.dumps({"works": True, "uuids": told(torch.cuda)}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
