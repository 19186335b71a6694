"""`kunline detect`: the screen alone, on plain series or spoken to line by line."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from service.cli.connection import AsJson
from service.cli.detect_protocol import LineError, replies
from service.cli.exit_codes import DONE, EXIT_CODE, USAGE
from service.cli.lines import percent, share
from service.domain.event import Event
from service.domain.screen import Answer, look, watch
from service.domain.verdict import Outcome
from service.formats.screens import EventRead, ScreenRead, SeriesRead, together
from service.formats.series_files import SeriesFileError, Table, read_series
from service.stats.screen import LATEST

STDIN = "-"
# More series than this are counted and not named in a line.
NAMED = 5


def detect(
    files: Annotated[
        list[str] | None,
        typer.Argument(help="CSV or JSON files of series, or - for stdin (the default)."),
    ] = None,
    *,
    tolerance: Annotated[
        float | None,
        typer.Option(min=0.0001, max=0.9999, help="A change that should be seen: 0.03 is 3 %."),
    ] = None,
    protocol: Annotated[
        bool,
        typer.Option("--protocol", help="Answer JSON lines on stdin, one by one, on stdout."),
    ] = False,
    json: AsJson = False,
) -> None:
    """Look for changes of level in plain series: when, which way, how much, when seen.

    A CSV file has a header and one row per run; each column is a series, but those named run,
    label, commit, stack, date or timestamp. A column named as a metric (or "anything: metric") has
    its better direction; elsewhere a rise is taken for worse. JSON: [values], {"name": [values],
    ...}, or {"labels": [...], "series": [{"name", "metric", "better", "host", "values"}]}; a value
    may be null, or one number per seed. Series of one file are measured together.

    Exit codes: 0 nothing seen, and a change of the tolerance would have been; 4 suspect, or too
    little power to say; 2 a file that is not understood.

    Example: kunline detect nightly.csv
    """
    if protocol:
        _speak()
        return
    try:
        tables = [read_series(_content(file), file=file) for file in files or (STDIN,)]
    except SeriesFileError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(USAGE) from error
    except OSError as error:
        typer.echo(f"{error.filename}: {error.strerror}", err=True)
        raise typer.Exit(USAGE) from error
    answer = together(screened(table, tolerance) for table in tables)
    if json:
        typer.echo(answer.model_dump_json(indent=2))
    else:
        for line in lines_of(answer):
            typer.echo(line)
    raise typer.Exit(DONE if answer.is_quiet else EXIT_CODE[Outcome.INCONCLUSIVE])


def screened(table: Table, tolerance: float | None = None) -> ScreenRead:
    """Return what the screen saw in a table, run by run, as it would have seen it night by night.

    tolerance: what should be seen, a ratio, instead of each metric's own.
    """
    watched = watch(table.series)
    events: list[Event] = []
    for row in table.rows:
        watched, new = look(watched, row)
        events += new
    return ScreenRead.of(table, watched, tuple(events), tolerance)


def lines_of(answer: ScreenRead) -> Iterator[str]:
    """Yield what was seen, one event a line, then what could have been seen where nothing was."""
    for event in answer.alarms:
        yield _event_line(event)
    for each in answer.series:
        if each.answer is Answer.NO_ALARM:
            yield _quiet_line(each)


def _event_line(event: EventRead) -> str:
    shown = ", ".join(f"{each.name} {percent(each.change)}" for each in event.moved[:NAMED])
    more = len(event.moved) - NAMED
    moved = f"{shown} and {more} more" if more > 0 else shown or f"the sum of {event.trigger}"
    line = (
        f"{Answer.SUSPECT}: {moved}, for the {event.direction}, "
        f"from run {_run(event.change_index, event.change_label)} on; "
        f"seen at run {_run(event.seen_index, event.seen_label)}"
    )
    if event.host:
        line += f"; it is the host {event.host}"
    return f"{line}; not measured: {', '.join(event.presumed)}" if event.presumed else line


def _run(index: int, label: str | None) -> str:
    return str(index) if label is None else f"{index} ({label})"


def _quiet_line(each: SeriesRead) -> str:
    if each.smallest_detectable is None:
        return f"{Answer.NO_ALARM}: {each.name}, but {each.runs} runs are too few to see anything"
    line = (
        f"{Answer.NO_ALARM}: {each.name}; a change that lasts would be seen within {LATEST} runs "
        f"from {share(each.smallest_detectable)} on"
    )
    return line if each.has_power else f"{line}, more than the tolerance of {share(each.tolerance)}"


def _content(file: str) -> bytes:
    return sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()


def _speak() -> None:
    try:
        for reply in replies(sys.stdin):
            sys.stdout.write(reply + "\n")
            sys.stdout.flush()
    except LineError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(USAGE) from error
