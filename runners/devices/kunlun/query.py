"""`xpu-smi -q`: everything about every card, as keys and values in indented sections."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runners.devices.kunlun.smi import (
    MIB,
    SmiError,
    address,
    count,
    each_once,
    lines_of,
    number,
    quantity,
    require_kunlun,
    told,
)

FORM = "-q"
BANNER = "XPUSMI LOG"
BRAND = "KUNLUNXIN"

_CARD = re.compile(r"XPU ([0-9A-Fa-f:.]+)")
# The key of a processes section without processes, and the one of each process.
_PROCESSES, _PROCESS = "processes", "processes process id"

Fields = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class QueriedCard:
    """One card. fields: every value by the lower-case words that lead to it, sections included.

    Memory in bytes, utilisation as a ratio, clock in hertz; None where the tool says 'N/A'.
    """

    address: str
    model: str
    uuid: str
    minor: int | None
    part_number: str | None
    firmware: str | None
    memory_used_bytes: int
    memory_total_bytes: int
    busy: float | None
    temperature_c: float | None
    power_w: float | None
    clock_hz: float | None
    ecc_uncorrected: int | None
    pids: tuple[int, ...]
    fields: Fields

    def field(self, *words: str) -> str | None:
        """Return the value whose key ends in these words, or None where it is not told."""
        return _last(self.fields, " ".join(words))


@dataclass(frozen=True, slots=True)
class Query:
    """All of it. runtime: XPU-RT, which is opaque text: it is not the runtime in a container."""

    driver: str | None
    runtime: str | None
    cards: tuple[QueriedCard, ...]


def queried(text: str) -> Query:
    """Return what `xpu-smi -q` tells. Raises SmiError where any card is not whole."""
    require_kunlun(text, FORM)
    lines = lines_of(text)
    if not lines or BANNER not in lines[0]:
        raise SmiError(FORM, f"it does not begin with {BANNER}", lines[0] if lines else "")
    head, blocks = _blocks(lines[1:])
    common = _fields(head)
    attached = number(_last(common, "attached xpus") or "", FORM)
    if attached != len(blocks):
        raise SmiError(FORM, f"{attached} cards are attached, and {len(blocks)} are told of")
    cards = tuple(_card(place, _fields(block)) for place, block in blocks)
    each_once([card.address for card in cards], "PCI address", FORM)
    each_once([card.uuid for card in cards], "UUID", FORM)
    return Query(_last(common, "driver version"), _last(common, "xpu-rt version"), cards)


def _blocks(lines: Sequence[str]) -> tuple[Sequence[str], Sequence[tuple[str, list[str]]]]:
    """Return the lines before the first card, and each card's address with its lines."""
    head: list[str] = []
    blocks: list[tuple[str, list[str]]] = []
    for line in lines:
        if match := _CARD.fullmatch(line):
            blocks.append((address(match[1], FORM), []))
        elif blocks:
            blocks[-1][1].append(line)
        else:
            head.append(line)
    return head, blocks


def _fields(lines: Sequence[str]) -> Fields:
    """Return values by key; a key begins with the sections that its line is indented below."""
    found: dict[str, list[str]] = {}
    open_sections: list[tuple[int, str]] = []
    for line in lines:
        indent = len(line) - len(line.lstrip())
        key, colon, value = line.partition(" : ")
        name = " ".join((key if colon else line.rstrip(": ")).lower().split())
        while open_sections and open_sections[-1][0] >= indent:
            open_sections.pop()
        whole = " ".join([*(section for _, section in open_sections), name])
        found.setdefault(whole, []).extend([value.strip()] if colon else [])
        open_sections.append((indent, name))
    return found


def _card(place: str, fields: Fields) -> QueriedCard:
    brand = _needed(fields, "product brand", place)
    if brand.upper() != BRAND:
        raise SmiError(FORM, f"card {place} is of brand {brand}, and not {BRAND}")
    used, total = (_mib(fields, f"memory usage {word}", place) for word in ("used", "total"))
    if used > total:
        raise SmiError(FORM, f"card {place} uses more memory than it has")
    busy = _number(fields, "utilization xpu", ("%",))
    if busy is not None and busy > 100:  # noqa: PLR2004 — per cent
        raise SmiError(FORM, f"card {place} is busier than it can be")
    clock = _number(fields, "clocks cluster", ("MHz",))
    minor, wrong = _last(fields, "minor number"), _last(fields, "volatile dram uncorrectable")
    return QueriedCard(
        address=place,
        model=_needed(fields, "product name", place),
        uuid=_needed(fields, "xpu uuid", place),
        minor=None if minor is None else number(minor, FORM),
        part_number=_last(fields, "xpu part number"),
        firmware=_last(fields, "firmware version all version"),
        memory_used_bytes=used,
        memory_total_bytes=total,
        busy=None if busy is None else busy / 100,
        temperature_c=_number(fields, "temperature xpu current temp", ("C",)),
        power_w=_number(fields, "power readings power draw", ("W",)),
        clock_hz=None if clock is None else clock * 1e6,
        ecc_uncorrected=None if wrong is None else count(wrong, FORM),
        pids=_pids(fields, place),
        fields=fields,
    )


def _pids(fields: Fields, place: str) -> tuple[int, ...]:
    """Return the processes on a card. The section ends a card: without it the card is cut off."""
    processes = [value for key, values in fields.items() if key == _PROCESS for value in values]
    if processes:
        return tuple(number(value, FORM) for value in processes)
    if fields.get(_PROCESSES) not in (["None"], ["N/A"]):
        raise SmiError(FORM, f"card {place} is cut off before its processes")
    return ()


def _last(fields: Fields, words: str) -> str | None:
    """Return the one value whose key is these words or ends in them; None where it is not told."""
    found = {
        value
        for key, values in fields.items()
        if key == words or key.endswith(f" {words}")
        for value in values
    }
    if len(found) > 1:
        raise SmiError(FORM, f"{words!r} stands there with several values: {sorted(found)}")
    return told(found.pop()) if found else None


def _needed(fields: Fields, words: str, place: str) -> str:
    value = _last(fields, words)
    if value is None:
        raise SmiError(FORM, f"card {place} does not tell its {words!r}")
    return value


def _number(fields: Fields, words: str, units: Sequence[str]) -> float | None:
    value = _last(fields, words)
    return None if value is None else quantity(value, units, FORM)


def _mib(fields: Fields, words: str, place: str) -> int:
    mib = quantity(_needed(fields, words, place), ("MiB", "MB"), FORM)
    return int((mib or 0) * MIB)
