"""Results of guidellm as its CSV: three rows of headings, then one row a benchmark.

A heading is group, quantity with unit, and statistic. The older shape of one heading row is not
read: it does not say which release's definitions it follows.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from types import MappingProxyType

from service.domain.validity import RunFacts
from service.formats.tools import guidellm
from service.formats.tools.csv_text import rows
from service.formats.tools.fields import above_zero, is_no_quantity, number, section, whole
from service.formats.tools.problem_codes import ProblemCode
from service.formats.tools.tool import Document, Found, Parsed, Problem, TextTool

Heading = tuple[str, str, str]

HEADING_ROWS = 3
_GROUPS = frozenset({"Run Info", "Benchmark", "Request Counts"})
_FIRST = "Run Info,"
_PERCENTILES = "Percentiles"
# The cell of percentiles has these, without the median, which has a column of its own.
_OF_CELL = ("min", "p001", "p01", "p05", "p10", "p25", "p75", "p90", "p95", "p99", "max")
_KEPT = ("p90", "p95", "p99")

# Group and heading to our latency; the unit is in the heading.
_LATENCIES: MappingProxyType[tuple[str, str], tuple[str, float]] = MappingProxyType(
    {
        ("Time to First Token", "Successful ms"): ("ttft", 1e-3),
        ("Inter Token Latency", "Successful ms"): ("tpot", 1e-3),
        ("Request Latency", "Successful Sec"): ("e2e", 1.0),
    }
)
_MEANS: MappingProxyType[tuple[str, str], str] = MappingProxyType(
    {
        ("Server Throughput", "Successful Requests/Sec"): "request_throughput",
        ("Server Throughput", "Successful Concurrency"): "concurrency",
        ("Token Throughput", "Successful Input Tokens/Sec"): "input_throughput",
        ("Token Throughput", "Successful Output Tokens/Sec"): "output_throughput",
        ("Token Throughput", "Successful Total Tokens/Sec"): "total_throughput",
    }
)


def recognises(lines: Sequence[str]) -> bool:
    """Return whether a file begins with the headings of this tool's CSV."""
    first = next(iter(lines), "").strip()
    return first.startswith(_FIRST) and set(first.split(",")) >= _GROUPS


def parse(lines: Iterable[str]) -> Iterator[Found[Parsed] | Problem]:
    """Yield one result a row below the headings."""
    found = rows(lines)
    headings: list[list[str]] = []
    for each in found:
        if isinstance(each, Problem):
            yield each
        elif len(headings) < HEADING_ROWS:
            headings.append(each.value)
        elif len(each.value) != len(headings[0]):
            message = f"{len(each.value)} cells under {len(headings[0])} headings"
            yield Problem(each.line, ProblemCode.WRONG_ROW, message)
        else:
            yield Found(each.line, _parsed(_cells(headings, each.value)))


def _cells(headings: list[list[str]], row: list[str]) -> dict[Heading, str]:
    # The rows of headings may be of unequal length; what is missing at an end is empty.
    padded = [heading + [""] * (len(row) - len(heading)) for heading in headings]
    return {
        (group, quantity, statistic): cell
        for group, quantity, statistic, cell in zip(*padded, row, strict=False)
    }


def _parsed(cells: dict[Heading, str]) -> Parsed:
    metadata = _object(cells, ("Runtime Info", "Metadata", ""))
    spec = guidellm.spec_of({"config": _object(cells, ("Runtime Info", "Arguments", ""))})
    spec = spec or _object(cells, ("Runtime Info", "Arguments", ""))
    config = _config(cells)
    metrics = _metrics(cells)
    facts = _facts(cells, config, spec, metrics)
    return Parsed(
        tool_version=_text(metadata, "guidellm_version"),
        definition=guidellm.definition_of(metadata),
        condition=guidellm.condition(config, spec),
        metrics=metrics,
        facts=facts,
    )


def _text(document: Document, name: str) -> str | None:
    value = document.get(name)
    return value if isinstance(value, str) else None


def _config(cells: dict[Heading, str]) -> Document:
    """Return a benchmark's configuration as the report of JSON would hold it."""
    kind, _, intensity = cells.get(("Benchmark", "Strategy", ""), "").partition("@")
    strategy: dict[str, object] = {"type_": kind} if kind else {}
    if intensity:
        strategy |= {"streams": intensity} if kind == "concurrent" else {"rate": intensity}
    return {
        "strategy": strategy,
        "constraints": _object(cells, ("Benchmark", "Constraints", "")),
        "backend": _object(cells, ("Run Info", "Backend", "")),
    }


def _object(cells: dict[Heading, str], heading: Heading) -> Document:
    try:
        value = json.loads(cells.get(heading, ""))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _metrics(cells: dict[Heading, str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for (group, quantity), (latency, factor) in _LATENCIES.items():
        told = _distribution(cells, group, quantity)
        found |= {
            f"{latency}_{name}": value * factor
            for name in told
            if (value := above_zero(told, name)) is not None
        }
    for (group, quantity), name in _MEANS.items():
        if (mean := above_zero(_distribution(cells, group, quantity), "mean")) is not None:
            found[name] = mean
    if duration := above_zero(_column(cells, "Timings", "Duration", "Sec"), "value"):
        found["duration"] = duration
    return found


def _distribution(cells: dict[Heading, str], group: str, quantity: str) -> dict[str, object]:
    told: dict[str, object] = {}
    for name, statistic in (("mean", "Mean"), ("p50", "Median")):
        if (group, quantity, statistic) in cells:
            told[name] = cells[group, quantity, statistic]
    try:
        values = json.loads(cells.get((group, quantity, _PERCENTILES), "[]"))
    except (ValueError, RecursionError):
        values = []
    if isinstance(values, list) and len(values) == len(_OF_CELL):
        by_name = dict(zip(_OF_CELL, values, strict=True))
        told |= {name: by_name[name] for name in _KEPT}
    return told


def _column(cells: dict[Heading, str], *heading: str) -> Document:
    group, quantity, statistic = heading
    return {"value": cells.get((group, quantity, statistic))}


def _count(cells: dict[Heading, str], name: str) -> int | None:
    return whole(_column(cells, "Request Counts", name, ""), "value")


def _facts(
    cells: dict[Heading, str], config: Document, spec: Document, metrics: dict[str, float]
) -> RunFacts:
    names = ("successful", "incomplete", "errored", "total")
    totals = {name: _count(cells, name.capitalize()) for name in names}
    backend = section(config, "backend")
    medians = {
        latency: value * factor
        for (group, quantity), (latency, factor) in _LATENCIES.items()
        if (value := number(_distribution(cells, group, quantity), "p50")) is not None
    }
    return RunFacts(
        requests_completed=totals["successful"],
        requests_asked=guidellm.asked_of(totals, section(config, "constraints")),
        streamed=backend.get("stream") is not False,
        ttft_p50=medians.get("ttft"),
        tpot_p50=medians.get("tpot"),
        not_finite=_not_finite(cells),
        concurrency=metrics.get("concurrency"),
        concurrency_asked=guidellm.streams_of(section(config, "strategy")),
        input_tokens=_in_all(cells, "Successful Input Tokens", totals["successful"]),
        output_tokens=_in_all(cells, "Successful Output Tokens", totals["successful"]),
        output_lengths=guidellm.output_lengths(guidellm.synthetic(spec)),
        duration_s=metrics.get("duration"),
    )


def _in_all(cells: dict[Heading, str], quantity: str, completed: int | None) -> int | None:
    mean = number(_distribution(cells, "Token Metrics", quantity), "mean")
    return None if mean is None or completed is None else round(mean * completed)


def _not_finite(cells: dict[Heading, str]) -> tuple[str, ...]:
    found = {
        f"{latency}_{name}"
        for (group, quantity), (latency, _) in _LATENCIES.items()
        for name in ("mean", "p50")
        if is_no_quantity(_distribution(cells, group, quantity), name)
    } | {
        name
        for (group, quantity), name in _MEANS.items()
        if is_no_quantity(_distribution(cells, group, quantity), "mean")
    }
    return tuple(sorted(found))


TEXT_TOOL = TextTool(guidellm.NAME, recognises, parse)
