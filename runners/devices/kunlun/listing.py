"""`xpu-smi -L`: index, model and UUID, one line a card."""

import re
from dataclasses import dataclass

from runners.devices.kunlun.smi import SmiError, each_once, lines_of, require_kunlun

FORM = "-L"

_LINE = re.compile(
    r"XPU (\d{1,4}): ([^\s:][^:]*?)\s+"
    r"\(?(?:UUID: ?)?(GPU-[0-9A-Za-z]+(?:-[0-9A-Za-z]+)*)\)?",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Listed:
    """One card as `-L` names it."""

    index: int
    model: str
    uuid: str


def listed(text: str) -> tuple[Listed, ...]:
    """Return the cards of `xpu-smi -L`, by index. Raises SmiError for any line of another form."""
    require_kunlun(text, FORM)
    cards = []
    for line in lines_of(text):
        match = _LINE.fullmatch(line.strip())
        if match is None or line.count("GPU-") > 1:
            raise SmiError(FORM, "not 'XPU <index>: <model> GPU-<uuid>'", line)
        cards.append(Listed(int(match[1]), match[2], match[3]))
    each_once([card.index for card in cards], "index", FORM)
    each_once([card.uuid for card in cards], "UUID", FORM)
    return tuple(sorted(cards, key=lambda card: card.index))
