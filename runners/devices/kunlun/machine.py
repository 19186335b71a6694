"""`xpu-smi -m`: one line of exactly 32 shell-style fields a card.

No line of it is published; the columns are those of its help and of three parsers.
"""

import shlex
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
)

FORM = "-m"
FIELDS = 32
_PLAIN = ("",)


@dataclass(frozen=True, slots=True)
class MachineLine:
    """One card. board: the help calls it the board's id, and one parser takes it as the index.

    Memory and L3 in bytes, utilisation as a ratio, clocks in hertz (freq_0 to freq_5).
    """

    address: str
    board: int
    device: int
    temperature_c: float | None
    memory_temperature_c: float | None
    power_w: float | None
    clocks_hz: tuple[float | None, ...]
    l3_used_bytes: int
    l3_total_bytes: int
    memory_used_bytes: int
    memory_total_bytes: int
    busy: float | None
    firmware: str
    model: str


def machine_lines(text: str) -> tuple[MachineLine, ...]:
    """Return the cards of `xpu-smi -m` in its order.

    Raises SmiError for another number of fields or a field of another kind, and then no card.
    """
    require_kunlun(text, FORM)
    cards = tuple(_card(line) for line in lines_of(text))
    each_once([card.address for card in cards], "PCI address", FORM)
    return cards


def _card(line: str) -> MachineLine:
    try:
        fields = shlex.split(line)
    except ValueError as error:
        raise SmiError(FORM, f"not shell-style: {error}", line) from error
    if len(fields) != FIELDS:
        raise SmiError(FORM, f"{FIELDS} fields are wanted, and these are {len(fields)}", line)
    used, total = _bytes(fields[17]), _bytes(fields[18])
    if used > total:
        raise SmiError(FORM, "more memory is used than there is", line)
    busy = quantity(fields[19], ("", "%"), FORM)
    return MachineLine(
        address=address(fields[0], FORM),
        board=number(fields[1], FORM),
        device=_device(fields[2]),
        temperature_c=quantity(fields[4], _PLAIN, FORM),
        memory_temperature_c=quantity(fields[6], _PLAIN, FORM),
        power_w=quantity(fields[8], _PLAIN, FORM),
        clocks_hz=tuple(_hertz(field) for field in fields[9:15]),
        l3_used_bytes=_bytes(fields[15]),
        l3_total_bytes=_bytes(fields[16]),
        memory_used_bytes=used,
        memory_total_bytes=total,
        busy=None if busy is None else _ratio(busy, line),
        firmware=fields[20],
        model=fields[21],
    )


def _device(field: str) -> int:
    try:
        return int(field, 16) if field.lower().startswith("0x") else number(field, FORM)
    except ValueError as error:
        raise SmiError(FORM, "a device id is wanted", field) from error


def _bytes(field: str) -> int:
    return number(field, FORM) * MIB


def _hertz(field: str) -> float | None:
    mhz = count(field, FORM)
    return None if mhz is None else mhz * 1e6


def _ratio(percent: float, line: str) -> float:
    if percent > 100:  # noqa: PLR2004 — per cent
        raise SmiError(FORM, "a card is busier than it can be", line)
    return percent / 100
