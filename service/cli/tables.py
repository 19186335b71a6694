"""Tables for a person: what stands in a cell is text, never markup."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from service.cli.plain import plain

# Away from a terminal nobody's window is too narrow.
WIDTH_ELSEWHERE = 200
# Wider than any table, to ask one how wide it would be.
WIDEST = 10_000


def console() -> Console:
    """Return where answers are printed: as wide as the terminal, and wide where there is none."""
    found = Console()
    return found if found.is_terminal else Console(width=WIDTH_ELSEWHERE)


def fits(table: Table, out: Console) -> bool:
    """Return whether a table goes on a console without a broken cell."""
    wide = out.options.update(width=WIDEST)
    return out.measure(table, options=wide).maximum <= out.width


def print_table(header: Sequence[str], rows: Iterable[Sequence[str | Text]]) -> None:
    """Print a table on stdout; a finding that holds [brackets] is printed as it is."""
    console().print(_table(header, rows))


def print_whole(header: Sequence[str], rows: Iterable[Sequence[str | Text]]) -> bool:
    """Print a table on stdout if it fits; return whether it did."""
    out, table = console(), _table(header, rows)
    if not fits(table, out):
        return False
    out.print(table)
    return True


def _table(header: Sequence[str], rows: Iterable[Sequence[str | Text]]) -> Table:
    # What does not fit goes on below: half an id names nothing.
    table = Table(*(Column(name, overflow="fold") for name in header))
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(plain(cell)) for cell in row))
    return table
