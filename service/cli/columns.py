"""Tables as aligned plain text, the same on a terminal, in a pipe and in a log."""

from collections.abc import Sequence
from unicodedata import combining, east_asian_width

GAP = "  "


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows under a header, each column as wide as its widest cell; numbers to the right."""
    numeric = [
        bool(rows) and all(_is_number(row[column]) for row in rows) for column in range(len(header))
    ]
    widths = [max(_width(row[column]) for row in (header, *rows)) for column in range(len(header))]
    return "\n".join(_line(row, widths, numeric) for row in (header, *rows))


def _line(row: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    cells = (
        _padded(text, width, right=right)
        for text, width, right in zip(row, widths, numeric, strict=True)
    )
    return GAP.join(cells).rstrip()


def _padded(text: str, width: int, *, right: bool) -> str:
    missing = " " * (width - _width(text))
    return missing + text if right else text + missing


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes: a Chinese character takes two."""
    if text.isascii():
        return len(text)
    return sum(
        2 if east_asian_width(each) in "WF" else 0 if combining(each) else 1 for each in text
    )


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()


def duration(seconds: float) -> str:
    """Return seconds as people say them: 45 s, 12 min, 3.4 h."""
    if seconds < 100:  # noqa: PLR2004 — up to here seconds are the shorter word
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 100 else f"{minutes / 60:.1f} h"  # noqa: PLR2004 — as above
