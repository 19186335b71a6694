"""The compatibility table for a person: aligned, as Markdown, CSV or a page of HTML."""

import csv
import io
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from html import escape

from service.cli.columns import aligned
from service.cli.lines import percent
from service.cli.plain import plain
from service.domain.key import short
from service.formats.compat import CompatCell, CompatCells, CompatEntry, CompatHistory, CompatPivot

HEADER = ("stack", "key", "cards", "model", "state", "cells", "what", "KV tokens", "answers",
          "measured", "host")  # fmt: skip
DAY_S = 86_400
# As much of a finding as one line of a table bears; the JSON has it whole.
FINDING = 90
STYLE = (
    "body{font:14px sans-serif;margin:2em}table{border-collapse:collapse}"
    "th,td{border:1px solid #bbb;padding:.3em .6em;text-align:left;vertical-align:top}"
)

Rows = Sequence[Sequence[str]]


class Layout(StrEnum):
    """How the table is written."""

    TABLE = "table"
    MARKDOWN = "markdown"
    CSV = "csv"
    HTML = "html"
    JSON = "json"


def entry_rows(entries: Sequence[CompatEntry], *, now: datetime) -> Rows:
    """Return the lines of the table."""
    return [_entry_row(entry, now) for entry in entries]


def cell_rows(found: CompatCells, *, now: datetime) -> tuple[Sequence[str], Rows]:
    """Return one stack's header and cells."""
    header = ("cell", "condition", "state", "what", "KV tokens", "answers", "measured", "host")
    rows = [
        (
            cell.title,
            short(cell.condition_key),
            str(cell.state),
            what(cell),
            _number(cell.kv_tokens),
            _answers(cell.distance, cell.distance_tolerance),
            age(cell.measured_at, now),
            cell.host or "-",
        )
        for cell in found.cells
    ]
    return header, rows


def pivot_rows(found: CompatPivot) -> tuple[Sequence[str], Rows]:
    """Return the turned table: one component's versions down, the other's across."""
    header = (f"{found.row} \\ {found.column}", *found.columns)
    squares = {(each.row, each.column): each for each in found.squares}
    rows = []
    for row in found.rows:
        told = [squares.get((row, column)) for column in found.columns]
        words = [
            ", ".join(f"{count} {state}" for state, count in each.states.items()) if each else "-"
            for each in told
        ]
        rows.append((row, *words))
    return header, rows


def history_rows(found: CompatHistory, *, now: datetime) -> tuple[Sequence[str], Rows]:
    """Return the history of a cell, oldest built first."""
    header = ("built", "stack", found.component or "key", "state", "what", "measured", "host")
    rows = [
        (
            str(past.built_at),
            past.stack_name,
            (past.version or "-") if found.component else short(past.stack_key),
            str(past.cell.state),
            what(past.cell),
            age(past.cell.measured_at, now),
            past.cell.host or "-",
        )
        for past in found.past
    ]
    return header, rows


def written(header: Sequence[str], rows: Rows, layout: Layout, *, title: str) -> str:
    """Return a table in a layout."""
    match layout:
        case Layout.MARKDOWN:
            return _markdown(header, rows)
        case Layout.CSV:
            return _csv(header, rows)
        case Layout.HTML:
            return _html(header, rows, title)
        case _:
            return aligned(header, [[plain(text) for text in row] for row in rows])


def what(cell: CompatCell) -> str:
    """Return what there is to say of a cell: where it broke, or what got worse and how much."""
    if cell.layer is not None:
        return _shortened(f"{cell.layer}: {cell.finding}")
    if cell.metric is None or cell.worsening is None or cell.low is None or cell.high is None:
        return _shortened(cell.finding) or "-"
    interval = f"{percent(cell.low)} to {percent(cell.high)}"
    return f"{cell.metric} worse by {percent(cell.worsening)} ({interval})"


def age(moment: datetime | None, now: datetime) -> str:
    """Return how long ago something was measured."""
    if moment is None:
        return "never"
    days = int((now - moment).total_seconds() // DAY_S)
    return "today" if days <= 0 else f"{days} d ago"


def _entry_row(entry: CompatEntry, now: datetime) -> Sequence[str]:
    told, chief = entry.told, entry.told.chief
    said = what(chief) if chief else "-"
    if entry.contradictions:
        said = f"{said}; {'; '.join(entry.contradictions)}"
    return (
        entry.stack_name,
        short(entry.stack_key),
        entry.card_model or "-",
        entry.model or "-",
        str(entry.state),
        ", ".join(f"{count} {state}" for state, count in told.cells.items()) or "-",
        said,
        _number(told.kv_tokens),
        _answers(told.distance, told.distance_tolerance),
        age(entry.measured_at, now),
        (chief.host if chief else None) or "-",
    )


def _answers(distance: float | None, tolerance: float | None) -> str:
    """Return whether answers moved, in nats a token beside what launches of one stack differ by."""
    if distance is None or tolerance is None:
        return "-"
    word = "moved" if distance > tolerance else "alike"
    return f"{word} {distance:.2g}/{tolerance:.2g}"


def _number(value: int | None) -> str:
    return "-" if value is None else str(value)


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= FINDING else f"{line[:FINDING]}…"


def _markdown(header: Sequence[str], rows: Rows) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(plain(cell).replace("|", "\\|") for cell in cells) + " |"

    return "\n".join([line(header), line(["---"] * len(header)), *map(line, rows)])


def _csv(header: Sequence[str], rows: Rows) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    # A cell that begins like a formula is one for a spreadsheet.
    writer.writerows([[f"'{text}" if text[:1] in "=+@" else text for text in row] for row in rows])
    return out.getvalue().rstrip("\n")


def _html(header: Sequence[str], rows: Rows, title: str) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "\n".join(
        "<tr>" + "".join(f"<td>{escape(plain(text))}</td>" for text in row) + "</tr>"
        for row in rows
    )
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        f"<title>{escape(title)}</title>\n"
        f"<style>{STYLE}</style>\n<h1>{escape(title)}</h1>\n"
        f"<table>\n<tr>{head}</tr>\n{body}\n</table>\n</html>"
    )
