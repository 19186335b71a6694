"""`kunline read`: what result files hold, without a service."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from service.cli.exit_codes import DONE, USAGE, VALIDITY_EXIT_CODE
from service.cli.lines import reading_lines, scaled, unreadable_line
from service.domain.reading import Readings
from service.formats.readings import ReadingRead, ReadingsRead
from service.formats.tools.registry import read_bytes, read_file

STDIN = "-"
WILDCARDS = frozenset("*?[")
SUFFIXES = (".json", ".jsonl", ".ndjson")
COLUMNS = ("output_throughput", "ttft_p50", "tpot_p50")
TABLE_WIDTH = 120


def read(
    files: Annotated[
        list[str],
        typer.Argument(help="Files, folders, patterns such as 'out/*.jsonl', or - for stdin."),
    ],
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document on stdout.")
    ] = False,
) -> None:
    """Parse benchmark result files: values in base units, and whether they may be judged.

    Ends with 0 when everything was readable and nothing is invalid, 5 when a result is invalid,
    2 when something could not be read. A bare file does not tell its whole condition: its results
    are incomplete at best.

    Example: kunline read results/*.jsonl --json
    """
    answer = ReadingsRead.of(read_all(files))
    if as_json:
        typer.echo(answer.model_dump_json(indent=2))
    else:
        _show(answer)
    raise typer.Exit(exit_code_of(answer))


def read_all(sources: Iterable[str]) -> Readings:
    """Return the readings of every file that the sources name, each file once, in order."""
    readings = Readings()
    for path in dict.fromkeys(path for source in sources for path in paths_of(source)):
        readings += _read_one(path)
    return readings


def paths_of(source: str) -> list[str]:
    """Return the files a source names: itself, those in a folder, or those a pattern matches.

    In a folder, files ending in .json, .jsonl, .ndjson, or one of these and .gz, are taken.
    A name that matches nothing is returned as it stands, to be found missing by its reader.
    """
    try:
        return _found(source) or [source]
    except (OSError, ValueError):
        # A folder that may not be entered, a name too long, no pattern: its reader says which.
        return [source]


def _found(source: str) -> list[str]:
    path = Path(source)
    if path.is_dir():
        found = (each for each in path.rglob("*") if _is_result(each) and each.is_file())
        return sorted(str(each) for each in found)
    if source == STDIN or path.exists() or not WILDCARDS.intersection(source):
        return [source]
    start = Path(path.anchor)
    matching = start.glob(str(path.relative_to(start)) if path.anchor else source)
    return sorted(str(each) for each in matching if each.is_file())


def exit_code_of(answer: ReadingsRead) -> int:
    """Return 5 where a reading is invalid, else 2 where something was unreadable, else 0."""
    worst = max((VALIDITY_EXIT_CODE[reading.validity] for reading in answer.readings), default=DONE)
    if worst != DONE:
        return worst
    return USAGE if answer.unreadable else DONE


def _read_one(path: str) -> Readings:
    if path == STDIN:
        return read_bytes(sys.stdin.buffer.read(), file=STDIN)
    return read_file(Path(path))


def _is_result(path: Path) -> bool:
    return path.name.lower().removesuffix(".gz").endswith(SUFFIXES)


def _show(answer: ReadingsRead) -> None:
    if answer.readings:
        console = Console(soft_wrap=False)
        if not console.is_terminal:
            console.width = TABLE_WIDTH
        console.print(_table(answer.readings))
    for line in reading_lines(answer.readings):
        typer.echo(line)
    for unreadable in answer.unreadable:
        typer.echo(unreadable_line(unreadable), err=True)


def _table(readings: tuple[ReadingRead, ...]) -> Table:
    table = Table()
    for name in ("result", "tool", "validity"):
        table.add_column(name, overflow="fold")
    for name in COLUMNS:
        table.add_column(name, justify="right")
    for reading in readings:
        table.add_row(
            escape(f"{reading.file}:{reading.line}"),
            f"{reading.tool} {reading.tool_version or ''}".strip(),
            reading.validity,
            *(scaled(reading.metrics.get(name)) for name in COLUMNS),
        )
    return table
