"""Tables as aligned plain text, the same on a terminal, in a pipe and in a log."""

from collections.abc import Sequence

GAP = "  "


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows under a header, each column as wide as its widest cell; numbers to the right."""
    numeric = [
        bool(rows) and all(_is_number(row[column]) for row in rows) for column in range(len(header))
    ]
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header))]
    return "\n".join(_line(row, widths, numeric) for row in (header, *rows))


def _line(row: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    cells = (
        text.rjust(width) if right else text.ljust(width)
        for text, width, right in zip(row, widths, numeric, strict=True)
    )
    return GAP.join(cells).rstrip()


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()


def duration(seconds: float) -> str:
    """Return seconds as people say them: 45 s, 12 min, 3.4 h."""
    if seconds < 100:  # noqa: PLR2004 — up to here seconds are the shorter word
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 100 else f"{minutes / 60:.1f} h"  # noqa: PLR2004 — as above
