"""Prints which distributions and modules this Python would load, and from where, as JSON.

Run by path with a measured environment's Python and never installed there, so: the standard
library alone, in the syntax of Python 3.8. argv: one JSON object {"distributions": [settled names],
"modules": [top-level names], "startup": [names of .pth files]}. Nothing is imported: an import of
such a stack may touch the cards.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import site
import sys
from importlib import metadata
from pathlib import Path


def main() -> None:
    """Print version and folder of each distribution, place of each module, text of each file."""
    asked = json.loads(sys.argv[1])
    sys.path.pop(0)  # the folder of this script, which is no part of what is measured
    told = {
        "distributions": distributions(asked["distributions"]),
        "modules": {name: place(name) for name in asked["modules"]},
        "startup": {name: startup(name) for name in asked["startup"]},
    }
    json.dump(told, sys.stdout)


def distributions(names: list[str]) -> dict[str, dict[str, str]]:
    """Return the version and the folder of those that are there; the first on the path counts."""
    found: dict[str, dict[str, str]] = {}
    for each in metadata.distributions():
        name = re.sub(r"[-_.]+", "-", each.metadata["Name"] or "").lower()
        if name in names and name not in found:
            folder = os.path.realpath(str(each.locate_file("")))
            found[name] = {"version": each.version, "folder": folder}
    return found


def place(name: str) -> str | None:
    """Return the file or folder that a top-level module would be imported from, or None."""
    try:
        found = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return None
    if found is None:
        return None
    folders = list(found.submodule_search_locations or ())
    told = found.origin or (folders[0] if folders else None)
    return None if told is None else os.path.realpath(told)


def startup(name: str) -> str | None:
    """Return the text of a file that Python reads as it starts, or None where it reads none."""
    for folder in site.getsitepackages():
        path = Path(folder, name)
        if path.is_file():
            return path.read_text(encoding="utf-8", errors="replace")
    return None


if __name__ == "__main__":
    main()
