"""The compatibility table for a person: aligned, as Markdown, CSV or a page of HTML."""

import csv
import io
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from html import escape

from service.cli.answers.marks import words as marked
from service.cli.columns import aligned
from service.cli.compat_words import WORDS, spoken
from service.cli.dossier_words import Language
from service.cli.lines import percent
from service.cli.plain import plain
from service.domain.compat import CompatState
from service.domain.key import short
from service.formats.compat import (
    CompatCell,
    CompatCells,
    CompatEntry,
    CompatHistory,
    CompatPivot,
    CompatTold,
)

COLUMNS = ("stack", "key", "cards", "model", "state", "cells", "what", "KV tokens", "answers",
           "measured", "host", "evidence")  # fmt: skip
DAY_S = 86_400
# As much of a finding as one line of a table bears; the JSON has it whole.
FINDING = 90
# What makes a formula of a cell, for one spreadsheet or another.
FORMULAS = frozenset("=+-@\t\r")
PAGE_LANGUAGE = {Language.EN: "en", Language.ZH: "zh-CN"}
# Nothing is loaded and nothing runs, whatever a name holds.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
STYLE = (
    ":root{color-scheme:light dark}"
    "body{font:14px system-ui,sans-serif;margin:2em;background:Canvas;color:CanvasText}"
    "div{overflow-x:auto}table{border-collapse:collapse}"
    "th,td{border:1px solid GrayText;padding:.3em .6em;text-align:left;vertical-align:top}"
    "td{overflow-wrap:break-word;max-width:24em}"
)

Words = Mapping[str, str]
Rows = Sequence[Sequence[str]]


class Layout(StrEnum):
    """How the table is written."""

    TABLE = "table"
    MARKDOWN = "markdown"
    CSV = "csv"
    HTML = "html"
    JSON = "json"


def entry_rows(
    entries: Sequence[CompatEntry], words: Words, *, now: datetime
) -> tuple[Sequence[str], Rows]:
    """Return the header and the lines of the table."""
    return [words[name] for name in COLUMNS], [_entry_row(entry, words, now) for entry in entries]


def cell_rows(found: CompatCells, words: Words, *, now: datetime) -> tuple[Sequence[str], Rows]:
    """Return one stack's header and cells."""
    names = ("cell", "condition", "state", "what", "KV tokens", "answers", "measured", "host",
             "evidence")  # fmt: skip
    rows = [
        (
            cell.title,
            short(cell.condition_key),
            words[f"state {cell.state}"],
            what(cell, words),
            _number(cell.kv_tokens),
            _answers(cell, words),
            age(cell.measured_at, words, now=now),
            cell.host or "-",
            _evidence(cell),
        )
        for cell in found.cells
    ]
    return [words[name] for name in names], rows


def pivot_rows(found: CompatPivot, words: Words) -> tuple[Sequence[str], Rows]:
    """Return the turned table: one component's versions down, the other's across."""
    header = (f"{found.row} \\ {found.column}", *found.columns)
    squares = {(each.row, each.column): each for each in found.squares}
    rows = []
    for row in found.rows:
        told = [squares.get((row, column)) for column in found.columns]
        rows.append((row, *(_counted(each.states, words) if each else "-" for each in told)))
    return header, rows


def history_rows(
    found: CompatHistory, words: Words, *, now: datetime
) -> tuple[Sequence[str], Rows]:
    """Return the history of a cell, oldest built first."""
    followed = found.component or words["key"]
    names = ("state", "what", "measured", "host", "evidence")
    header = (words["built"], words["stack"], followed, *(words[name] for name in names))
    rows = [
        (
            str(past.built_at),
            past.stack_name,
            (past.version or "-") if found.component else short(past.stack_key),
            words[f"state {past.cell.state}"],
            what(past.cell, words),
            age(past.cell.measured_at, words, now=now),
            past.cell.host or "-",
            _evidence(past.cell),
        )
        for past in found.past
    ]
    return header, rows


def written(
    header: Sequence[str],
    rows: Rows,
    layout: Layout,
    *,
    title: str,
    language: Language = Language.EN,
) -> str:
    """Return a table in a layout."""
    match layout:
        case Layout.MARKDOWN:
            return _markdown(header, rows)
        case Layout.CSV:
            return _csv(header, rows)
        case Layout.HTML:
            return _html(header, rows, title, language)
        case _:
            return aligned(header, [[plain(text) for text in row] for row in rows])


def what(cell: CompatCell, words: Words) -> str:
    """Return what there is to say of a cell: where it broke, or what got worse and how much."""
    if cell.layer is not None:
        return _shortened(f"{cell.layer}: {cell.finding}")
    if cell.metric is None or cell.worsening is None or cell.low is None or cell.high is None:
        return _shortened(cell.finding) or "-"
    figures = {"by": percent(cell.worsening), "low": percent(cell.low), "high": percent(cell.high)}
    return words["worst"].format(metric=cell.metric, **figures)


def age(moment: datetime | None, words: Words, *, now: datetime) -> str:
    """Return how long ago something was measured."""
    if moment is None:
        return words["never"]
    days = int((now - moment).total_seconds() // DAY_S)
    return words["today"] if days <= 0 else words["days ago"].format(days=days)


def _entry_row(entry: CompatEntry, words: Words, now: datetime) -> Sequence[str]:
    told, chief = entry.told, entry.told.chief
    said = what(chief, words) if chief else "-"
    if entry.contradicted:
        language = Language.ZH if words is WORDS[Language.ZH] else Language.EN
        said = "; ".join([said, *(spoken(each, language) for each in entry.contradicted)])
    return (
        entry.stack_name,
        short(entry.stack_key),
        entry.card_model or "-",
        entry.model or "-",
        words[f"state {entry.state}"],
        _counted(told.cells, words) or "-",
        said,
        _number(told.kv_tokens),
        _answers(told, words),
        age(entry.measured_at, words, now=now),
        (chief.host if chief else None) or "-",
        _evidence(chief),
    )


def _evidence(cell: CompatCell | None) -> str:
    """Return the newest run that a cell rests on: its id is the address of its page."""
    return str(cell.run_id) if cell and cell.run_id else "-"


def _counted(states: Mapping[CompatState, int], words: Words) -> str:
    return ", ".join(f"{count} {words[f'state {state}']}" for state, count in states.items())


def _answers(told: CompatCell | CompatTold, words: Words) -> str:
    """Return whether answers moved, on an idle server and at saturation.

    In nats a token, beside what launches of one stack differ by.
    """
    idle = _moved(told.distance, told.distance_tolerance, words)
    if told.loaded_concurrency is None:
        return idle
    loaded = _moved(told.loaded_distance, told.loaded_tolerance, words)
    return words["at load"].format(idle=idle, load=told.loaded_concurrency, loaded=loaded)


def _moved(distance: float | None, tolerance: float | None, words: Words) -> str:
    if distance is None or tolerance is None:
        return "-"
    word = words["moved" if distance > tolerance else "alike"]
    return f"{word} {distance:.2g}/{tolerance:.2g}"


def _number(value: int | None) -> str:
    return "-" if value is None else str(value)


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= FINDING else f"{line[:FINDING]}…"


def _markdown(header: Sequence[str], rows: Rows) -> str:
    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cells)} |"

    escaped = ([marked(text) for text in row] for row in (header, *rows))
    first, *others = (line(row) for row in escaped)
    return "\n".join([first, line(["---"] * len(header)), *others])


def _csv(header: Sequence[str], rows: Rows) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([[_no_formula(text) for text in row] for row in (header, *rows)])
    return out.getvalue().rstrip("\n")


def _no_formula(text: str) -> str:
    """Return a cell that no spreadsheet takes for a formula; a lone dash is none."""
    line = plain(text)
    begins = line.lstrip()[:1]
    return f"'{line}" if begins in FORMULAS and line != "-" else line


def _html(header: Sequence[str], rows: Rows, title: str, language: Language) -> str:
    head = "".join(f'<th scope="col">{escape(plain(name))}</th>' for name in header)
    body = "\n".join(
        "<tr>" + "".join(f"<td>{escape(plain(text))}</td>" for text in row) + "</tr>"
        for row in rows
    )
    return (
        f'<!doctype html>\n<html lang="{PAGE_LANGUAGE[language]}">\n<head>\n'
        '<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f"<title>{escape(plain(title))}</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n<h1>{escape(plain(title))}</h1>\n<div>\n<table>\n"
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n</div>\n"
        "</body>\n</html>"
    )
