"""Results as a table for a person: as many rows as one looks at, and everything counted."""

from collections import Counter

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from service.cli.lines import scaled, unreadable_line
from service.cli.plain import plain
from service.cli.tables import console, fits
from service.domain.resolution import Fact
from service.domain.validity import Validity
from service.formats.readings import INCOMPLETE, ProblemRead, ReadingRead, UnreadableRead

COLUMNS = ("output_throughput", "ttft_p50", "tpot_p50")
_COLUMNS = frozenset(COLUMNS)
# More rows, or more lines about what is wrong, nobody reads; --json prints all of them.
MAX_ROWS = 500
MAX_LINES = 200
STYLE = {Validity.INVALID: "magenta", Validity.INCOMPLETE: "yellow", Validity.VALID: "green"}
FACTS_SHOWN = 6
VALUES_SHOWN = 3


class ResultTable:
    """Takes results one by one and shows them at the end; what it holds does not grow for ever."""

    def __init__(self) -> None:
        self.validities: Counter[Validity] = Counter()
        self.unreadable = 0
        self._failures = 0
        self._rows: list[ReadingRead] = []
        self._invalid: list[str] = []
        self._told: list[str] = []
        self._unreadable: list[str] = []
        self._codes: Counter[str] = Counter()
        self._examples: dict[str, str] = {}

    def add(self, reading: ReadingRead) -> None:
        """Take one result."""
        self.validities[reading.validity] += 1
        if len(self._rows) < MAX_ROWS:
            self._rows.append(reading)
        where = f"{reading.file}:{reading.line}"
        for problem in reading.problems:
            if problem.code == INCOMPLETE:
                self._count(problem)
            else:
                self._failures += 1
                if len(self._invalid) < MAX_LINES:
                    self._invalid.append(f"{where} invalid: {problem.code}: {problem.message}")
        for warning in reading.warnings:
            self._count(warning)
        if not reading.metrics.keys() & _COLUMNS and reading.resolution:
            self._tell(where, reading)

    def add_unreadable(self, part: UnreadableRead) -> None:
        """Take one part that could not be read."""
        self.unreadable += 1
        if len(self._unreadable) < MAX_LINES:
            self._unreadable.append(unreadable_line(part))

    def show(self) -> None:
        """Print everything: results on stdout, what could not be read on stderr."""
        if self._rows:
            out, table = console(), self._table()
            # A table that does not fit breaks every path in it; lines may wrap where they like.
            if fits(table, out):
                out.print(table)
                self._show_other_values(out)
            else:
                self._show_lines(out)
        more = self._failures - len(self._invalid)
        if more > 0:
            self._invalid.append(f"and {more} more of this; --json tells all of it")
        for line in (*self._more_rows(), *self._invalid, *self._told, *self._counted()):
            typer.echo(plain(line))
        for line in self._unreadable:
            typer.echo(line, err=True)
        if (more := self.unreadable - len(self._unreadable)) > 0:
            typer.echo(f"and {more} more parts unreadable; --json tells all of them", err=True)

    def _tell(self, where: str, reading: ReadingRead) -> None:
        if len(self._told) < MAX_LINES:
            line = f"{where} has no load's values, but what a server settled: {_facts(reading)}"
            self._told.append(line)

    def _count(self, problem: ProblemRead) -> None:
        self._codes[problem.code] += 1
        self._examples.setdefault(problem.code, problem.message)

    def _table(self) -> Table:
        table = Table("result", "tool", "load", "validity")
        for name in COLUMNS:
            table.add_column(name, justify="right")
        for reading in self._rows:
            table.add_row(
                Text(plain(f"{reading.file}:{reading.line}")),
                Text(plain(_tool(reading))),
                Text(plain(_load(reading))),
                Text(reading.validity, style=STYLE[reading.validity]),
                *(scaled(reading.metrics.get(name)) for name in COLUMNS),
            )
        return table

    def _show_other_values(self, out: Console) -> None:
        for reading in self._rows:
            if reading.metrics and not (reading.metrics.keys() & _COLUMNS or reading.resolution):
                line = f"{reading.file}:{reading.line} has {', '.join(_values(reading))}"
                out.print(Text(plain(line)), soft_wrap=True)

    def _show_lines(self, out: Console) -> None:
        for reading in self._rows:
            told = [_tool(reading), _load(reading), *_values(reading)]
            where = Text(plain(f"{reading.file}:{reading.line} "), style="bold")
            validity = Text(reading.validity, style=STYLE[reading.validity])
            words = Text(plain(f"  {', '.join(word for word in told if word)}"))
            for line in (Text.assemble(where, validity), words):
                out.print(line, soft_wrap=True)

    def _more_rows(self) -> list[str]:
        count = self.validities.total()
        if count <= len(self._rows):
            return []
        validities = ", ".join(f"{number} {word}" for word, number in self.validities.items())
        return [f"the first {len(self._rows)} of {count} results ({validities}); --json prints all"]

    def _counted(self) -> list[str]:
        total = self.validities.total()
        return [
            f"{code} in {count} of {total} results, such as: {self._examples[code]}"
            for code, count in self._codes.items()
        ]


def _tool(reading: ReadingRead) -> str:
    return f"{reading.tool} {reading.tool_version or ''}".strip()


def _load(reading: ReadingRead) -> str:
    """Return how the server was pressed, as far as the file tells: 128→64 concurrency 8."""
    told = reading.condition
    lengths = [told.get("input_tokens"), told.get("output_tokens")]
    rate, concurrency = told.get("request_rate"), told.get("concurrency")
    kind = "batch" if told.get("load") == "batch" else "concurrency"
    words = [
        "→".join(map(_number, lengths)) if None not in lengths else "",
        f"{kind} {concurrency}" if concurrency is not None else "",
        f"rate {_number(rate)}/s" if rate not in {None, "inf"} else "",
    ]
    return " ".join(word for word in words if word)


def _number(fact: Fact) -> str:
    return f"{fact:g}" if isinstance(fact, float) else str(fact)


def _values(reading: ReadingRead) -> list[str]:
    """Return what people look at first, or of a result that has none of it, what it has."""
    names = [name for name in COLUMNS if name in reading.metrics] or list(reading.metrics)
    return [f"{name} {scaled(reading.metrics[name])}" for name in names[:VALUES_SHOWN]]


def _facts(reading: ReadingRead) -> str:
    told = {name: value for name, value in reading.resolution.items() if value is not None}
    shown = ", ".join(f"{name}={value}" for name, value in list(told.items())[:FACTS_SHOWN])
    more = len(told) - FACTS_SHOWN
    return f"{shown} and {more} more; --json tells all" if more > 0 else shown
