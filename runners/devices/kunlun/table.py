"""`xpu-smi` without a word: the table of cards, three rows each, and of their processes."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runners.devices.kunlun.smi import (
    MIB,
    SmiError,
    address,
    each_once,
    lines_of,
    quantity,
    require_kunlun,
    told,
)

FORM = ""

_BANNER = re.compile(r"\| XPU-SMI\s+Driver Version: (\S+)\s+XPU-RT Version: (\S+)\s+\|")
_NAME = re.compile(
    r"\|\s+(\d{1,4})\s+(\S.*?)\s+\S+\s+\|\s+([0-9A-Fa-f:.]+)\s+\S+\s*\|\s+(\S+)\s+\|"
)
_LOAD = re.compile(
    r"\|\s+\S+\s+(\d+ ?C|N/A)\s+\S+\s+(\d+ ?W|N/A) ?/ ?(\d+ ?W|N/A)\s+\|"
    r"\s+(\d+) ?MiB ?/\s*(\d+) ?MiB\s+\|\s+(\d+ ?%|N/A)\s+\S+.*\|"
)
_L3 = re.compile(r"\|\s+\|\s+(\d+) ?MiB ?/\s*(\d+) ?MiB\s+\|.*\|")
_PROCESS = re.compile(
    r"\|\s+(\d{1,4})\s+\S+\s+\S+\s+(\d{1,10})\s+\S+\s+(\S.*?)\s+(?:\d+ ?MiB|N/A)\s*\|"
)
_NOBODY = "No running processes found"
# A heading names columns and holds no figure but the one in 'L3'.
_HEADING = re.compile(r"\|[^\d]*(?:L3-Usage[^\d]*)?\|")
_RULE = re.compile(r"[+|][-=+| ]*[+|]")


@dataclass(frozen=True, slots=True)
class TableCard:
    """One card as the table shows it. Memory in bytes, utilisation as a ratio."""

    index: int
    model: str
    address: str
    temperature_c: float | None
    power_w: float | None
    power_limit_w: float | None
    memory_used_bytes: int
    memory_total_bytes: int
    busy: float | None
    ecc_uncorrected: str | None


@dataclass(frozen=True, slots=True)
class TableProcess:
    """One process on a card."""

    index: int
    pid: int
    name: str


@dataclass(frozen=True, slots=True)
class Table:
    """All of it. runtime: XPU-RT, opaque text."""

    driver: str | None
    runtime: str | None
    cards: tuple[TableCard, ...]
    processes: tuple[TableProcess, ...]


def tabled(text: str) -> Table:
    """Return the cards of the default table, by index. Raises SmiError where one is not whole."""
    require_kunlun(text, FORM)
    lines = lines_of(text)
    at, banner = _banner(lines)
    rows = iter(lines[at + 1 :])
    cards: list[TableCard] = []
    for line in rows:
        if match := _NAME.fullmatch(line):
            cards.append(_card(match, rows))
        elif line.startswith("| Processes"):
            break
        elif not (_RULE.fullmatch(line) or _HEADING.fullmatch(line)):
            raise SmiError(FORM, "a line that no such table has", line)
    processes = _processes(list(rows))
    each_once([card.index for card in cards], "index", FORM)
    each_once([card.address for card in cards], "PCI address", FORM)
    unknown = {process.index for process in processes} - {card.index for card in cards}
    if unknown:
        raise SmiError(FORM, f"processes on cards that are not in it: {sorted(unknown)}")
    return Table(told(banner[1]), told(banner[2]), tuple(cards), processes)


def _banner(lines: Sequence[str]) -> tuple[int, re.Match[str]]:
    """Return where the banner stands: first, or below a date and a rule."""
    for at, line in enumerate(lines[:4]):
        if match := _BANNER.fullmatch(line):
            return at, match
    first = lines[0] if lines else ""
    raise SmiError(FORM, "there is no banner with XPU-SMI and XPU-RT Version", first)


def _card(name: re.Match[str], rows: Iterator[str]) -> TableCard:
    load, l3 = next(rows, ""), next(rows, "")
    figures = _LOAD.fullmatch(load)
    if figures is None:
        raise SmiError(FORM, f"card {name[1]} has no second row", load)
    if _L3.fullmatch(l3) is None:
        raise SmiError(FORM, f"card {name[1]} has no third row", l3)
    used, total = int(figures[4]) * MIB, int(figures[5]) * MIB
    busy = quantity(figures[6], ("%",), FORM)
    if used > total or (busy is not None and busy > 100):  # noqa: PLR2004 — per cent
        raise SmiError(FORM, f"card {name[1]} uses more than it has", load)
    return TableCard(
        index=int(name[1]),
        model=name[2],
        address=address(name[3], FORM),
        temperature_c=quantity(figures[1], ("C",), FORM),
        power_w=quantity(figures[2], ("W",), FORM),
        power_limit_w=quantity(figures[3], ("W",), FORM),
        memory_used_bytes=used,
        memory_total_bytes=total,
        busy=None if busy is None else busy / 100,
        ecc_uncorrected=told(name[4]),
    )


def _processes(lines: Sequence[str]) -> tuple[TableProcess, ...]:
    """Return the processes. The table ends in a rule: without it, it is cut off."""
    found, nobody = [], False
    for line in lines:
        if match := _PROCESS.fullmatch(line):
            found.append(TableProcess(int(match[1]), int(match[2]), match[3]))
        elif _NOBODY in line:
            nobody = True
        elif not (_RULE.fullmatch(line) or _HEADING.fullmatch(line)):
            raise SmiError(FORM, "a line that no table of processes has", line)
    if not lines or not _RULE.fullmatch(lines[-1]) or bool(found) is nobody:
        raise SmiError(FORM, "the table is cut off before the end of its processes")
    return tuple(found)
