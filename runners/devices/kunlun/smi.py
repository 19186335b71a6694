"""The vendor's `xpu-smi`: how it is asked, how Intel's of that name is told from it, its units."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from runners.devices.host import DeviceError, Host

PROGRAM = "KUNLINE_XPU_SMI"
NOT_TOLD = frozenset({"N/A", "[N/A]", "Not Supported", "[Not Supported]", "-"})
MIB = 2**20
SHOWN_CHARACTERS = 120

_ADDRESS = re.compile(r"(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}):([0-9a-f]{2})\.([0-9a-f])")
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?) ?(\S*)")


class SmiError(DeviceError, ValueError):
    """`xpu-smi` printed something that is not what it is known to print; nothing of it is used."""

    def __init__(self, form: str, why: str, line: str = "") -> None:
        shown = f": {line.strip()[:SHOWN_CHARACTERS]!r}" if line else ""
        super().__init__(f"`xpu-smi{f' {form}' if form else ''}`: {why}{shown}")


@dataclass(frozen=True, slots=True)
class XpuSmi:
    """The program on one host. It only ever asks: no word here resets or configures a card."""

    host: Host
    limit_s: float = 20.0

    def said(self, *words: str) -> str:
        """Return what it prints. Raises ProgramError, or SmiError for another vendor's tool."""
        program = self.host.variables.get(PROGRAM) or "xpu-smi"
        text = self.host.said([program, *words], limit_s=self.limit_s)
        require_kunlun(text, " ".join(words))
        return text


def require_kunlun(text: str, form: str) -> None:
    """Raise SmiError where the text is that of Intel's or NVIDIA's tool."""
    for sign, vendor in (("Intel", "Intel's"), ("oneAPI", "Intel's"), ("NVIDIA", "NVIDIA's")):
        if sign in text:
            why = f"this is {vendor} tool and not Kunlunxin's: name the right one in {PROGRAM}"
            raise SmiError(form, why)


def lines_of(text: str) -> Sequence[str]:
    """Return the lines that hold something, without their right edge."""
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def told(text: str) -> str | None:
    """Return a value as it stands, or None where the tool says that it has none."""
    value = text.strip()
    return None if value in NOT_TOLD or not value else value


def quantity(text: str, units: Sequence[str], form: str) -> float | None:
    """Return the number before one of the units; None for 'N/A'. Raises SmiError."""
    value = told(text)
    if value is None:
        return None
    match = _QUANTITY.fullmatch(value)
    if match is None or match[2] not in units:
        raise SmiError(form, f"a number in {' or '.join(units)} is wanted", text)
    return float(match[1])


def count(text: str, form: str) -> int | None:
    """Return a whole number without a unit; None for 'N/A'. Raises SmiError."""
    value = told(text)
    if value is None:
        return None
    if not re.fullmatch(r"\d{1,18}", value, flags=re.ASCII):
        raise SmiError(form, "a whole number is wanted", text)
    return int(value)


def number(text: str, form: str) -> int:
    """Return a whole number that must be told. Raises SmiError."""
    value = count(text, form)
    if value is None:
        raise SmiError(form, "a whole number is wanted, and none is told")
    return value


def address(text: str, form: str) -> str:
    """Return a PCI address as all spellings have it: '0000:03:00.0'. Raises SmiError."""
    match = _ADDRESS.fullmatch(text.strip().lower())
    if match is None:
        raise SmiError(form, "a PCI address is wanted", text)
    return f"{int(match[1] or '0', 16):04x}:{match[2]}:{match[3]}.{match[4]}"


def each_once(values: Sequence[object], what: str, form: str) -> None:
    """Raise SmiError where two cards have the same value."""
    if len(set(values)) != len(values):
        raise SmiError(form, f"two cards have the same {what}: {sorted(map(str, values))}")
