"""Results of aiperf and genai-perf as their CSV: tables of metrics, each with its unit in brackets.

A first table has a column a statistic, a second one value a metric, and a third, which is not
read, is of the cards. aiperf rounds to two decimals; genai-perf also parts thousands with commas.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from types import MappingProxyType

from service.formats.tools.aiperf import NAME, OLDER_NAME
from service.formats.tools.aiperf import parse as parse_document
from service.formats.tools.csv_text import rows
from service.formats.tools.problem_codes import ProblemCode
from service.formats.tools.tool import Found, Parsed, Problem, TextTool

_HEAD_LINES = 200
_STATISTIC = re.compile(r"avg|min|max|sum|std|count|p\d{1,3}")
# The last brackets hold the unit; those before belong to the name, as in '(error-adjusted)'.
_LABEL = re.compile(r"(?P<name>.+?)(?:\s*\((?P<unit>[^()]*)\))?")
# What neither tool leaves out, but for runs where nothing succeeded.
_MARKS = ("Request Latency (", "Request Throughput (", "Request Count", "Error Request Count")
_FIRST = "Metric,"
_OF_GENAI_PERF = "(per sec)"

# Labels, in small letters, whose metric the tools' JSON calls otherwise.
_NAMES = MappingProxyType(
    {
        "total output sequence length": "total_osl",
        "total input sequence length": "total_isl",
        "benchmark duration": "benchmark_duration",
    }
)


def recognises_aiperf(lines: Sequence[str]) -> bool:
    """Return whether a file begins with such a table, and no rate is 'per sec'."""
    return _is_of_either(lines) and not _is_of_genai_perf(lines)


def recognises_genai_perf(lines: Sequence[str]) -> bool:
    """Return whether a file begins with such a table, and a rate in it is 'per sec'."""
    return _is_of_either(lines) and _is_of_genai_perf(lines)


def _is_of_either(lines: Sequence[str]) -> bool:
    first = next((line for line in lines[:_HEAD_LINES] if line.strip()), "")
    return (
        first.startswith(_FIRST)
        and all(isinstance(row, Found) and _is_heading(row.value) for row in rows([first]))
        and any(line.lstrip('"').startswith(_MARKS) for line in lines[:_HEAD_LINES])
    )


def _is_of_genai_perf(lines: Sequence[str]) -> bool:
    return any(_OF_GENAI_PERF in line for line in lines[:_HEAD_LINES])


def _is_heading(row: Sequence[str]) -> bool:
    if not row or row[0] != "Metric":
        return False
    return row[1:] == ["Value"] or all(_STATISTIC.fullmatch(cell) for cell in row[1:])


def parse(lines: Iterable[str]) -> Iterator[Found[Parsed] | Problem]:
    """Yield the one result of a file, and beside it the rows that could not be read."""
    document: dict[str, object] = {}
    heading: list[str] | None = None
    for each in rows(lines):
        if isinstance(each, Problem):
            yield each
        elif _is_heading(each.value):
            heading = ["avg" if cell == "Value" else cell for cell in each.value]
        elif "Metric" in each.value:
            # The table of the cards begins.
            heading = None
        elif heading is not None and len(each.value) == len(heading):
            document |= _metric(heading, each.value)
        elif heading is not None:
            message = f"{len(each.value)} cells under {len(heading)} headings"
            yield Problem(each.line, ProblemCode.WRONG_ROW, message)
    for result in parse_document(document):
        yield result if isinstance(result, Problem) else Found(1, result)


def _metric(heading: Sequence[str], row: Sequence[str]) -> dict[str, object]:
    label = _LABEL.fullmatch(row[0].strip())
    if label is None:
        return {}
    name = label["name"].casefold()
    values = {
        statistic: cell.replace(",", "")
        for statistic, cell in zip(heading[1:], row[1:], strict=True)
        if cell.strip()
    }
    key = _NAMES.get(name, name.replace(" ", "_"))
    return {key: {"unit": label["unit"] or "requests", **values}}


TEXT_TOOL = TextTool(NAME, recognises_aiperf, parse)
OLDER_TEXT_TOOL = TextTool(OLDER_NAME, recognises_genai_perf, parse)
