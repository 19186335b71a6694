"""Results in somebody's CSV, read by the mapping file that says what its columns are."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType

from service.domain.resolution import Fact
from service.domain.validity import RunFacts
from service.formats.mapping_files import ColumnSection, MappingFile
from service.formats.spelling import hint
from service.formats.tools.csv_text import rows
from service.formats.tools.fields import writable
from service.formats.tools.problem_codes import ProblemCode
from service.formats.tools.tool import Found, Parsed, Problem, TextTool

SHOWN = 60
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_NOT_FINITE = MappingProxyType(
    {
        spelling: float(spelling)
        for spelling in ("nan", "inf", "-inf", "+inf", "infinity", "-infinity", "+infinity")
    }
)
_LIKE_JSON = re.compile(r"\s*[{\[]")


class _CellError(ValueError):
    """A cell does not hold what its column should."""


def tool_of(mapping: MappingFile) -> TextTool:
    """Return a tool that reads every file but those of JSON as rows under this mapping."""
    return TextTool(mapping.tool, _is_not_json, partial(rows_of, mapping=mapping))


def _is_not_json(lines: Sequence[str]) -> bool:
    return _LIKE_JSON.match("".join(lines[:1]).removeprefix("\ufeff")) is None


def rows_of(lines: Iterable[str], mapping: MappingFile) -> Iterator[Found[Parsed] | Problem]:
    """Yield one result a row, and beside them what could not be read: by line and column."""
    places: Mapping[str, int] | None = None
    cells = 0
    for each in rows(lines, delimiter=mapping.delimiter):
        if isinstance(each, Problem):
            yield each
        elif places is None:
            places, cells = _places(each.value, mapping), len(each.value)
            if problems := _headings_wrong(each, mapping):
                yield from problems
                return
        elif len(each.value) != cells:
            message = f"{len(each.value)} cells under {cells} headings"
            yield Problem(each.line, ProblemCode.WRONG_ROW, message)
        else:
            yield from _result(each, places, mapping)


def _places(headings: Sequence[str], mapping: MappingFile) -> Mapping[str, int]:
    found = {heading.strip(): place for place, heading in enumerate(headings)}
    return {heading: found[heading] for heading in mapping.columns if heading in found}


def _headings_wrong(row: Found[list[str]], mapping: MappingFile) -> list[Problem]:
    known = Counter(heading.strip() for heading in row.value)
    problems = [
        Problem(
            row.line,
            ProblemCode.MISSING_COLUMN,
            f"no column {heading!r}, which the mapping names; {writable(hint(heading, known))}",
        )
        for heading in mapping.columns
        if heading not in known
    ]
    return problems + [
        Problem(row.line, ProblemCode.MISSING_COLUMN, f"{known[heading]} columns are {heading!r}")
        for heading in mapping.columns
        if known[heading] > 1
    ]


def _result(
    row: Found[list[str]], places: Mapping[str, int], mapping: MappingFile
) -> Iterator[Found[Parsed] | Problem]:
    values: dict[str, float | Fact] = {}
    wrong: list[Problem] = []
    for heading, column in mapping.columns.items():
        cell = row.value[places[heading]].strip()
        if cell in mapping.no_value:
            continue
        try:
            values[heading] = _value(cell, column, mapping)
        except _CellError as error:
            message = f"column {heading!r}: {writable(cell[:SHOWN])!r} {error}"
            wrong.append(Problem(row.line, ProblemCode.WRONG_CELL, message))
    if wrong:
        yield from wrong
    else:
        yield Found(row.line, _parsed(values, mapping))


def _value(cell: str, column: ColumnSection, mapping: MappingFile) -> Fact:
    number = _number(cell, mapping)
    if column.condition is not None:
        return _told(cell, number, column)
    if number is None:
        raise _CellError("is not a number")
    if column.fact is not None and not (number >= 0 and number.is_integer()):
        raise _CellError("is not a count")
    return number


def _told(cell: str, number: float | None, column: ColumnSection) -> Fact:
    if column.read_as == "text":
        return writable(cell)
    if number is None or not math.isfinite(number):
        if column.read_as == "number":
            raise _CellError("is not a number")
        return writable(cell)
    return int(number) if number.is_integer() else number


def _number(cell: str, mapping: MappingFile) -> float | None:
    if (special := _NOT_FINITE.get(cell.casefold())) is not None:
        return special
    plain = cell.replace(mapping.thousands, "") if mapping.thousands else cell
    if mapping.decimal == ",":
        if "." in plain:
            return None
        plain = plain.replace(",", ".")
    return float(plain) if _NUMBER.fullmatch(plain) else None


def _parsed(values: Mapping[str, Fact], mapping: MappingFile) -> Parsed:
    condition = dict(mapping.condition) | {
        column.condition: values[heading]
        for heading, column in mapping.columns.items()
        if column.condition is not None and heading in values
    }
    told = {
        column.metric: float(value) * column.factor
        for heading, column in mapping.columns.items()
        if column.metric is not None and isinstance(value := values.get(heading), float)
    }
    metrics = {name: value for name, value in told.items() if 0 < value < float("inf")}
    return Parsed(
        tool_version=mapping.tool_version,
        definition=mapping.definition,
        condition=condition,
        metrics=metrics,
        facts=_facts(values, condition, told, mapping),
    )


def _facts(
    values: Mapping[str, Fact],
    condition: Mapping[str, Fact],
    told: Mapping[str, float],
    mapping: MappingFile,
) -> RunFacts:
    counts: dict[str, int] = {
        column.fact: int(value)
        for heading, column in mapping.columns.items()
        if column.fact is not None and isinstance(value := values.get(heading), float)
    }
    finite = {name: value for name, value in told.items() if 0 <= value < float("inf")}
    fixed = mapping.lengths == "fixed"
    completed, asked = _requests(counts)
    return RunFacts(
        requests_completed=completed,
        requests_asked=asked,
        input_tokens=counts.get("input_tokens"),
        input_lengths=_length(condition, "input_tokens") if fixed else None,
        output_tokens=counts.get("output_tokens"),
        output_lengths=_length(condition, "output_tokens") if fixed else None,
        ignore_eos=mapping.ignore_eos,
        streamed=mapping.streamed,
        # Whether a gap is one token or several is not told by a column.
        itl_per_token=False,
        retokenised=counts.get("retokenised"),
        ttft_p50=finite.get("ttft_p50"),
        tpot_p50=finite.get("tpot_p50"),
        itl_p50=finite.get("itl_p50"),
        not_finite=tuple(sorted(told.keys() - finite.keys())),
        cache_hit=finite.get("cache_hit"),
        concurrency=finite.get("concurrency"),
        concurrency_asked=_in_flight_asked(condition),
        duration_s=finite.get("duration"),
        server_output_tokens=counts.get("server_output_tokens"),
        server_errors=counts.get("server_errors"),
        retractions=counts.get("retractions"),
    )


def _requests(counts: Mapping[str, int]) -> tuple[int | None, int | None]:
    """Return how many requests completed and how many were asked for: two counts tell the third."""
    completed, asked = counts.get("requests_completed"), counts.get("requests_asked")
    failed = counts.get("requests_failed")
    if failed is not None and completed is None and asked is not None:
        completed = max(asked - failed, 0)
    elif failed is not None and completed is not None and asked is None:
        asked = completed + failed
    return completed, asked


def _in_flight_asked(condition: Mapping[str, Fact]) -> int | None:
    """Return the concurrency to reach; where a rate sets the pace there is none."""
    paced = isinstance(condition.get("request_rate"), int | float)
    return None if paced else _whole(condition.get("concurrency"))


def _length(condition: Mapping[str, Fact], name: str) -> tuple[int, int] | None:
    length = _whole(condition.get(name))
    return None if length is None else (length, length)


def _whole(value: Fact) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
