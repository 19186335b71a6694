"""`kunline read`: what result files hold, without a service."""

import io
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, cast

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from service.cli.exit_codes import DONE, USAGE, VALIDITY_EXIT_CODE
from service.cli.result_paths import STDIN, paths_of
from service.cli.result_table import ResultTable
from service.domain.reading import Reading, Readings, Unreadable
from service.formats.mapping_files import read_mapping
from service.formats.readings import ReadingRead, UnreadableRead
from service.formats.tools import csv_rows
from service.formats.tools.lines import Stream
from service.formats.tools.registry import collected, readings_in, readings_of
from service.formats.tools.tool import TextTool
from service.formats.yaml_file import FileProblemsError

# Reading less than this is over before a bar is understood.
BAR_FROM_BYTES = 64 * 2**20


def read(
    files: Annotated[
        list[str],
        typer.Argument(help="Files, folders, patterns such as 'out/*.jsonl', or - for stdin."),
    ],
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document on stdout.")
    ] = False,
    mapping: Annotated[
        Path | None,
        typer.Option(
            help="A YAML file that says what the columns of a CSV are; see docs/csv-mapping.md."
        ),
    ] = None,
) -> None:
    """Parse benchmark result files: values in base units, and whether they may be judged.

    Which tool wrote a file is seen from its content, whatever its name; .gz is unpacked. Known are
    the tools of SGLang and vLLM, server logs and /server_info, evalscope perf, guidellm, aiperf,
    genai-perf, InferenceX, inference-perf and llmperf; any CSV is read with --mapping. Files may be
    of any size: with --json each result is printed as it is read, one a line.

    Ends with 0 when everything was readable and nothing is invalid, 5 when a result is invalid,
    2 when something could not be read. A bare file does not tell its whole condition: its results
    are incomplete at best.

    For example:

      kunline read results/*.jsonl

      kunline read results/ server.log --json

      ssh host cat out.jsonl.gz | kunline read -

      kunline read results.csv --mapping map.yaml
    """
    may_show = not (as_json and sys.stdout.isatty())
    found = _watched(files, may_show=may_show, text_tools=mapped_or_exit(mapping))
    raise typer.Exit(_print_json(found) if as_json else _print_table(found))


def mapped_or_exit(mapping: Path | None) -> tuple[TextTool, ...]:
    """Return the tool that reads a CSV by a mapping file; a wrong one is told and exits 2."""
    if mapping is None:
        return ()
    try:
        return (csv_rows.tool_of(read_mapping(mapping)),)
    except FileProblemsError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(USAGE) from error


def read_all(sources: Iterable[str], *, text_tools: Sequence[TextTool] = ()) -> Readings:
    """Return the readings of every file that the sources name, each file once, in order."""
    return collected(
        each
        for path in _each_once(sources, text_tools)
        for each in _read_one(path, text_tools=text_tools)
    )


def _watched(
    sources: Iterable[str], *, may_show: bool, text_tools: Sequence[TextTool] = ()
) -> Iterator[Reading | Unreadable]:
    """Yield what the sources hold, with a bar on stderr where that takes a while."""
    paths = _each_once(sources, text_tools)
    console = Console(stderr=True)
    shown = may_show and console.is_terminal and sum(map(_size, paths)) >= BAR_FROM_BYTES
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(
        *columns,
        TimeRemainingColumn(),
        console=console,
        transient=True,
        redirect_stdout=False,
        disable=not shown,
    ) as progress:
        watched = partial(_with_bar, progress) if shown else None
        for path in paths:
            yield from _read_one(path, text_tools=text_tools, watched=watched)


def _with_bar(progress: Progress, stream: Stream) -> Stream:
    name = stream.name
    watched = progress.wrap_file(stream, _size(name), description=escape(Path(name).name))
    # It is one, and its annotation says less.
    return io.BufferedReader(cast("io.RawIOBase", watched))


def _each_once(sources: Iterable[str], text_tools: Sequence[TextTool]) -> list[str]:
    paths = (path for source in sources for path in paths_of(source, text_tools=text_tools))
    return list(dict.fromkeys(paths))


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except (OSError, ValueError):
        return 0


def _read_one(
    path: str,
    *,
    text_tools: Sequence[TextTool] = (),
    watched: Callable[[Stream], Stream] | None = None,
) -> Iterator[Reading | Unreadable]:
    if path == STDIN:
        return readings_in(_stdin(), file=STDIN, text_tools=text_tools)
    return readings_of(Path(path), text_tools=text_tools, watched=watched)


def _stdin() -> Stream:
    stream = sys.stdin.buffer
    if isinstance(stream, io.BufferedReader):
        return stream
    return io.BufferedReader(cast("io.RawIOBase", stream))


def _print_json(found: Iterable[Reading | Unreadable]) -> int:
    """Print one JSON document while it is being read, a reading a line; return the exit code."""
    unreadable: list[str] = []
    worst = DONE
    gap = "\n"
    typer.echo('{"readings": [', nl=False)
    for each in found:
        if isinstance(each, Unreadable):
            unreadable.append(UnreadableRead.of(each).model_dump_json())
            continue
        answer = ReadingRead.of(each)
        worst = max(worst, VALIDITY_EXIT_CODE[answer.validity])
        typer.echo(f"{gap}{answer.model_dump_json()}", nl=False)
        gap = ",\n"
    typer.echo('\n], "unreadable": [', nl=False)
    typer.echo(",".join(f"\n{each}" for each in unreadable), nl=False)
    typer.echo("\n]}")
    return _exit_code(worst, unreadable=bool(unreadable))


def _print_table(found: Iterable[Reading | Unreadable]) -> int:
    """Print a table and what is wrong or odd; return the exit code."""
    table = ResultTable()
    for each in found:
        if isinstance(each, Unreadable):
            table.add_unreadable(UnreadableRead.of(each))
        else:
            table.add(ReadingRead.of(each))
    table.show()
    worst = max((VALIDITY_EXIT_CODE[validity] for validity in table.validities), default=DONE)
    return _exit_code(worst, unreadable=table.unreadable > 0)


def _exit_code(worst: int, *, unreadable: bool) -> int:
    """Return 5 where a reading is invalid, else 2 where something was unreadable, else 0."""
    if worst != DONE:
        return worst
    return USAGE if unreadable else DONE
