"""`xpu-smi topo -m`: the ways between cards and NICs, in every variant that was published."""

import re
from collections.abc import Mapping, Sequence

from runners.devices.device import Topology
from runners.devices.kunlun.smi import SmiError, lines_of, require_kunlun
from service.domain.key import content_key, short

FORM = "topo -m"

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_XPU = re.compile(r"XPU\d{1,4}", re.ASCII)
_LINK = re.compile(r"X|XL\d*|PIX|PXB|PHB|NODE|SYS", re.ASCII)
_LEGEND = re.compile(r"\s*(NIC\d{1,4})\s*:\s*(\S+)", re.ASCII)
_AFFINITY = re.compile(r"N/A|\d[\d,-]*", re.ASCII)
SELF = "X"
# Of CPUs, of memory, and the NUMA node of the card itself.
MOST_AFFINITIES = 3


def topology_of(text: str) -> Topology:
    """Return the matrix. NICs stand in columns by number with a legend, or by their own names.

    Raises SmiError where a row is cut off, a way has an unknown word, or two rows disagree.
    """
    require_kunlun(text, FORM)
    lines = lines_of(_COLOUR.sub("", text))
    at, columns = _columns(lines)
    rows, rest = _rows(lines[at + 1 :], columns)
    links = {
        (name, column): word
        for name, (words, _) in rows.items()
        for column, word in zip(columns, words, strict=True)
    }
    _require_sane(links, columns, set(rows))
    legend = {match[1]: match[2] for line in rest if (match := _LEGEND.fullmatch(line))}
    nics = {name: legend.get(name, name) for name in columns if not _XPU.fullmatch(name)}
    numa = {name: tail[-1] for name, (_, tail) in rows.items() if tail}
    told = {
        "links": {f"{one} {other}": word for (one, other), word in links.items()},
        "nics": nics,
        "numa": numa,
    }
    return Topology(links, nics, numa, short(content_key(told)))


def cards_in(found: Topology) -> int:
    """Return how many cards a matrix has rows of."""
    return sum(1 for one, other in found.links if one == other and _XPU.fullmatch(one))


def _columns(lines: Sequence[str]) -> tuple[int, Sequence[str]]:
    """Return where the header stands, and its names up to the affinities."""
    for at, line in enumerate(lines):
        words = line.split()
        if not words or not _XPU.fullmatch(words[0]) or _is_row(words):
            continue
        names = words[: words.index("CPU")] if "CPU" in words else words
        if len(set(names)) != len(names):
            raise SmiError(FORM, "a column stands twice", line)
        return at, names
    raise SmiError(FORM, "there is no header with XPU0", lines[0] if lines else "")


def _is_row(words: Sequence[str]) -> bool:
    return len(words) > 1 and _LINK.fullmatch(words[1]) is not None


def _rows(
    lines: Sequence[str], columns: Sequence[str]
) -> tuple[Mapping[str, tuple[Sequence[str], Sequence[str]]], Sequence[str]]:
    """Return each row's ways and what stands behind them, and the lines below the matrix."""
    rows: dict[str, tuple[Sequence[str], Sequence[str]]] = {}
    for at, line in enumerate(lines):
        if ":" in line or "=" in line:
            return rows, lines[at:]  # a legend
        name, *words = line.split()
        if name not in columns or name in rows:
            raise SmiError(FORM, "a row of no column, or a second one", line)
        ways, tail = words[: len(columns)], words[len(columns) :]
        if len(ways) < len(columns) or not all(_LINK.fullmatch(word) for word in ways):
            raise SmiError(FORM, f"a row has not {len(columns)} known ways", line)
        if len(tail) > MOST_AFFINITIES or not all(_AFFINITY.fullmatch(word) for word in tail):
            raise SmiError(FORM, "what stands behind the ways is no affinity", line)
        rows[name] = ways, tail
    return rows, ()


def _require_sane(
    links: Mapping[tuple[str, str], str], columns: Sequence[str], rows: set[str]
) -> None:
    missing = [name for name in columns if _XPU.fullmatch(name) and name not in rows]
    if missing:
        raise SmiError(FORM, f"there is no row of {', '.join(missing)}")
    for (one, other), word in links.items():
        if (one == other) is not (word == SELF):
            raise SmiError(FORM, f"the way from {one} to {other} is {word!r}")
        if links.get((other, one), word) != word:
            raise SmiError(FORM, f"{one} and {other} tell two ways between them")
