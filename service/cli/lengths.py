"""Lengths of time as a person writes them: 90, 45s, 20m, 1.5h."""

import re
from types import MappingProxyType

import typer

SECONDS = MappingProxyType({"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0})
_LENGTH = re.compile(r"(\d+(?:\.\d+)?)\s*([smhd]?)")


def seconds_of(text: str) -> float:
    """Return a length in seconds; wrong input is told on stderr and exits 2."""
    found = _LENGTH.fullmatch(text.strip())
    if found is None or float(found[1]) <= 0:
        raise typer.BadParameter(f"{text!r} is no length of time; write 90s, 20m, 1.5h or 30d")
    return float(found[1]) * SECONDS[found[2]]
