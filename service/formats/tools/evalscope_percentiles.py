"""Percentiles of evalscope perf: a list of rows, one a percentile, that are one result."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from types import MappingProxyType

from service.domain.validity import RunFacts
from service.formats.tools.evalscope import MILLISECONDS, NAME, PACKAGES, SECONDS, STREAMED_ONLY
from service.formats.tools.fields import above_zero, is_no_quantity, is_not_finite, number, text
from service.formats.tools.problem_codes import ProblemCode
from service.formats.tools.tool import Document, Found, Parsed, Problem, TextTool

# The file holds a dozen rows of a dozen numbers.
MOST_LINES = 10_000
MOST_CHARACTERS = 2**20

_HEAD = re.compile(r'\s*\[\s*\{\s*"Percentiles?"\s*:')
_HEAD_LINES = 50
_STATISTICS = MappingProxyType({"50%": "p50", "90%": "p90", "95%": "p95", "99%": "p99"})
# The unit is in the key: seconds up to 1.6, milliseconds since. Throughputs here are those of
# single requests, and no metric of ours.
_COLUMNS = MappingProxyType(
    {
        "TTFT (s)": ("ttft", 1.0),
        "TPOT (s)": ("tpot", 1.0),
        "ITL (s)": ("itl", 1.0),
        "TTFT (ms)": ("ttft", 1e-3),
        "TPOT (ms)": ("tpot", 1e-3),
        "ITL (ms)": ("itl", 1e-3),
        "Latency (s)": ("e2e", 1.0),
    }
)


def recognises(lines: Sequence[str]) -> bool:
    """Return whether a file begins with the first row of such a list."""
    return _HEAD.match("".join(lines[:_HEAD_LINES])) is not None


def parse(lines: Iterable[str]) -> Iterator[Found[Parsed] | Problem]:
    """Yield the one result of a file, or what is wrong with it."""
    content = "".join(islice(lines, MOST_LINES))
    if len(content) > MOST_CHARACTERS:
        message = f"percentiles of more than {MOST_CHARACTERS} characters"
        yield Problem(None, ProblemCode.TOO_LARGE, message)
        return
    try:
        rows = json.loads(content)
    except (ValueError, RecursionError) as error:
        yield Problem(1, ProblemCode.TRUNCATED, f"the list of percentiles is not whole: {error}")
        return
    found = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    if both := _in_both_units(found):
        message = f"{both} stands in seconds and in milliseconds"
        yield Problem(1, ProblemCode.UNKNOWN_UNIT, message)
        return
    yield Found(1, _parsed(found))


def _in_both_units(rows: Sequence[Document]) -> str:
    """Return the latencies that have two columns, of which nobody knows the right one."""
    keys = {key for row in rows for key in row} & _COLUMNS.keys()
    counted = Counter(_COLUMNS[key][0] for key in keys)
    return ", ".join(sorted(name for name, count in counted.items() if count > 1))


def _parsed(rows: Sequence[Document]) -> Parsed:
    by_statistic = {
        statistic: row for row in rows if (statistic := _STATISTICS.get(_label(row))) is not None
    }
    definition = _definition(rows)
    cells = [
        (f"{latency}_{statistic}", row, key, factor)
        for statistic, row in by_statistic.items()
        for key, (latency, factor) in _COLUMNS.items()
        if _is_told(by_statistic.values(), key)
        # Of the oldest releases a token is a package of the stream.
        and not (definition == PACKAGES and latency == "tpot")
    ]
    return Parsed(
        tool_version=">=1.7" if definition in {MILLISECONDS, STREAMED_ONLY} else "<1.7",
        definition=definition,
        condition={},
        metrics={
            name: value * factor
            for name, row, key, factor in cells
            if (value := above_zero(row, key)) is not None
        },
        facts=_facts(cells),
    )


def _is_told(rows: Iterable[Document], key: str) -> bool:
    """Return whether a column has values: without any, the tool writes NaN in every row."""
    return any(key in row and not is_not_finite(row, key) for row in rows)


def _facts(cells: list[tuple[str, Document, str, float]]) -> RunFacts:
    medians = {
        name: value * factor
        for name, row, key, factor in cells
        if name.endswith("_p50") and (value := number(row, key)) is not None
    }
    return RunFacts(
        # How many requests failed stands in the summary beside it, and in nothing here.
        part_of_a_result=True,
        ttft_p50=medians.get("ttft_p50"),
        tpot_p50=medians.get("tpot_p50"),
        itl_p50=medians.get("itl_p50"),
        # One gap is one chunk of the stream, which may hold several tokens.
        itl_per_token=False,
        not_finite=tuple(sorted({name for name, row, key, _ in cells if is_no_quantity(row, key)})),
    )


def _label(row: Document) -> str:
    return text(row, "Percentiles") or text(row, "Percentile") or ""


def _definition(rows: Sequence[Document]) -> int:
    """Return which of the tool's definitions the rows follow, as their keys tell it."""
    keys = {key for row in rows for key in row}
    if "TTFT (s)" in keys:
        return PACKAGES if "Throughput(tokens/s)" in keys else SECONDS
    # The first and last rows came about when streamed requests were told apart.
    return STREAMED_ONLY if "min" in {_label(row) for row in rows} else MILLISECONDS


TEXT_TOOL = TextTool(NAME, recognises, parse)
