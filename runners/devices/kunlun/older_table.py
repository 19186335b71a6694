"""`xpu_smi` of the first two generations (K200, R200, R300): another table altogether."""

import re
from dataclasses import dataclass

from runners.devices.kunlun.smi import MIB, SmiError, address, each_once, lines_of, require_kunlun

FORM = "(first generations)"
BEGINS = "Runtime Version:"

_ROW = re.compile(
    r"\|\s*(\d{1,4})\s*\|\s*([0-9A-Fa-f:.]+)\s*\|\s*(\S.*?)\s*\|\s*(\S*)\s*\|\s*/dev/xpu(\d{1,4})\s*\|"
    r"\s*(\d{1,3}) ?%\s*\|\s*\d+ ?/ ?\d+ MB\s*\|\s*(\d+) ?/ ?(\d+) MB\s*\|"
)


@dataclass(frozen=True, slots=True)
class OlderCard:
    """One card of an older generation: no public stack of SGLang runs on it."""

    index: int
    address: str
    model: str
    minor: int
    busy: float
    memory_used_bytes: int
    memory_total_bytes: int


def is_older(text: str) -> bool:
    """Return whether a text is the table of the first two generations."""
    return text.lstrip().startswith(BEGINS)


def older_tabled(text: str) -> tuple[OlderCard, ...]:
    """Return the cards of that table, by index. Raises SmiError where a row is not whole."""
    require_kunlun(text, FORM)
    if not is_older(text):
        raise SmiError(FORM, f"it does not begin with {BEGINS!r}")
    cards, inside = [], False
    for line in lines_of(text):
        inside = (inside or line.strip() == "DEVICES") and "VIDEO" not in line
        if not inside or not line.startswith("|") or not line.strip("| -=+"):
            continue
        if match := _ROW.fullmatch(line):
            cards.append(_card(match))
        elif "DevID" not in line:
            raise SmiError(FORM, "a row that no such table has", line)
    if not cards:
        raise SmiError(FORM, "there is no card in it")
    each_once([card.index for card in cards], "index", FORM)
    return tuple(cards)


def _card(match: re.Match[str]) -> OlderCard:
    return OlderCard(
        index=int(match[1]),
        address=address(match[2], FORM),
        model=match[3],
        minor=int(match[5]),
        busy=int(match[6]) / 100,
        memory_used_bytes=int(match[7]) * MIB,
        memory_total_bytes=int(match[8]) * MIB,
    )
