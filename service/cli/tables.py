"""Tables for a person: what stands in a cell is text, never markup."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

# Away from a terminal nobody's window is too narrow.
WIDTH_ELSEWHERE = 200


def console() -> Console:
    """Return where answers are printed: as wide as the terminal, and wide where there is none."""
    found = Console()
    return found if found.is_terminal else Console(width=WIDTH_ELSEWHERE)


def print_table(header: Sequence[str], rows: Iterable[Sequence[str | Text]]) -> None:
    """Print a table on stdout; a finding that holds [brackets] is printed as it is."""
    # What does not fit goes on below: half an id names nothing.
    table = Table(*(Column(name, overflow="fold") for name in header))
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(cell) for cell in row))
    console().print(table)
