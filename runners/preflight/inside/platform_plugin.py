"""Resolve SGLang's platform plugin the way SGLang does, and say which one it is.

Run by path with a measured environment's Python; standard library and sglang, Python 3.8 syntax.
argv: the name of the distribution that is to bring the plugin.
Prints one JSON line: {"works", "seen", "interface"}; interface is None where none is stated.
"""

import ctypes
import importlib
import json
import os
import re
import signal
import sys
from importlib.metadata import entry_points
from typing import Any

PR_SET_PDEATHSIG = 1
GROUP = "sglang.srt.platforms"


def main() -> int:
    """Look the entry points up, load the one that counts, and import its class."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    wanted = settled(sys.argv[1])
    every: Any = entry_points()  # before Python 3.10 a mapping by group
    found = list(every.select(group=GROUP) if hasattr(every, "select") else every.get(GROUP, ()))
    chosen = os.environ.get("SGLANG_PLATFORM")
    if chosen:
        found = [point for point in found if point.name == chosen]
    names = sorted(point.name for point in found)
    if len(found) != 1:
        return say(False, f"one platform is wanted, and these are installed: {names or 'none'}")
    point = found[0]
    bringer = settled(point.dist.name if getattr(point, "dist", None) else package_of(point.value))
    if bringer != wanted:
        return say(False, f"the platform {point.name} comes from {bringer}, not from {wanted}")
    target = point.load()()
    if target is None:
        return say(False, f"the platform {point.name} says that it does not fit this host")
    module, _, name = target.partition(":")
    platform = getattr(importlib.import_module(module), name)
    package = importlib.import_module(package_of(point.value))
    interface = getattr(package, "INTERFACE_VERSION", None)
    device = getattr(platform, "device_name", "a device without a name")
    return say(True, f"{point.name} is {target}, for {device}", interface)


def package_of(value: str) -> str:
    """Return the top package of an entry point's 'package.module:attribute'."""
    return value.partition(":")[0].partition(".")[0]


def settled(name: str) -> str:
    """Return a distribution's name as all its spellings have it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def say(works: bool, seen: str, interface: object = None) -> int:
    """Print what was seen."""
    line = json.dumps({"works": works, "seen": seen, "interface": interface})
    sys.stdout.write(line + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
