"""What sglang.bench_serving prints: its arguments, and the table at the end of a run.

Kept where the result file was not. Its values are rounded to 0.01, so these are another tool's
readings than those of the file; but the arguments tell how many requests were asked for, and a run
of which all requests failed leaves nothing else: the tool dies before it writes.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from service.domain.resolution import Fact
from service.formats.tools import bench_serving
from service.formats.tools.fields import number, whole
from service.formats.tools.printed_arguments import arguments_in
from service.formats.tools.problem_codes import ProblemCode
from service.formats.tools.tool import Document, Found, Parsed, Problem, TextTool

NAME = "sglang.bench_serving_console"

# Releases from 0.5 on print their arguments twice, the first time with a name before them.
_NAME_OF_FIRST = "benchmark_args="
_ARGUMENTS = "Namespace("
_FIRST_ARGUMENTS = f"{_NAME_OF_FIRST}{_ARGUMENTS}"
# Of the client's many arguments some that no other tool has together; vLLM's lacks the last.
_OWN = ("random_range_ratio=", "sharegpt_output_len=", "disable_ignore_eos=")
_TITLE = "============ Serving Benchmark Result ============"
_OWN_ROW = re.compile(r"Backend:\s+(\S+)")
_END = re.compile(r"={40,}\s*$")
_ROW = re.compile(r"(?P<label>[^:]{1,60}):\s+(?P<value>\S+)(?P<rest>.*)")
_LATENCY = re.compile(r"(Mean|Median|P90|P95|P99) (E2E Latency|TTFT|TPOT|ITL) \(ms\)")
_DIED = re.compile(r"Traceback \(most recent call last\)|\bExiting\.\s*$|^\w*Error\b")
MOST_ROWS = 100
HEAD_LINES_TO_BACKEND = 2

_LABELS = MappingProxyType(
    {
        "Backend": "backend",
        "Traffic request rate": "request_rate",
        "Max request concurrency": "max_concurrency",
        "Max reqeuest concurrency": "max_concurrency",
        "Successful requests": "completed",
        "Benchmark duration (s)": "duration",
        "Total input tokens": "total_input_tokens",
        "Total generated tokens": "total_output_tokens",
        "Total generated tokens (retokenized)": "total_output_tokens_retokenized",
        "Request throughput (req/s)": "request_throughput",
        "Input token throughput (tok/s)": "input_throughput",
        "Output token throughput (tok/s)": "output_throughput",
        "Total token throughput (tok/s)": "total_throughput",
        "Concurrency": "concurrency",
        "Accept length": "accept_length",
    }
)
_ASKED = (
    "backend",
    "dataset_name",
    "request_rate",
    "max_concurrency",
    "sharegpt_output_len",
    "random_input_len",
    "random_output_len",
    "random_range_ratio",
)


@dataclass(slots=True)
class _Run:
    """What was printed of one run so far; arguments are None where they were not printed."""

    line: int
    arguments: Document | None = None
    named: bool = False
    rows: dict[str, str] | None = None
    ended: bool = False
    died: bool = False


def recognises(lines: Sequence[str]) -> bool:
    """Return whether a text holds this client's arguments or its table."""
    return any(
        _is_arguments(line)
        or (
            line.startswith(_TITLE)
            and any(map(_OWN_ROW.match, lines[at : at + HEAD_LINES_TO_BACKEND]))
        )
        for at, line in enumerate(lines, start=1)
    )


def parse(lines: Iterable[str]) -> Iterator[Found[Parsed] | Problem]:
    """Yield one result a run in our words and base units, also for a run that died."""
    run: _Run | None = None
    for count, line in enumerate(lines, start=1):
        if _begins(line, run):
            yield from _result(run)
            run = _Run(count)
        if run is not None:
            _hear(line, run)
    yield from _result(run)


def _is_arguments(line: str) -> bool:
    return line.startswith((_FIRST_ARGUMENTS, _ARGUMENTS)) and all(name in line for name in _OWN)


def _begins(line: str, run: _Run | None) -> bool:
    """Return whether a line is of another run than the lines before it."""
    if _is_arguments(line):
        again = run is not None and run.named and run.rows is None
        return not again or line.startswith(_FIRST_ARGUMENTS)
    return line.startswith(_TITLE) and (run is None or run.rows is not None)


def _hear(line: str, run: _Run) -> None:
    if _is_arguments(line):
        run.named = line.startswith(_FIRST_ARGUMENTS)
        run.arguments = arguments_in(line.removeprefix(_NAME_OF_FIRST)) or {}
    elif line.startswith(_TITLE):
        run.rows = {}
    elif run.rows is None:
        run.died = run.died or _DIED.search(line) is not None
    elif not run.ended:
        run.ended = _END.match(line) is not None
        if (row := _ROW.match(line)) and len(run.rows) < MOST_ROWS:
            run.rows[row["label"].strip()] = row["value"]


def _result(run: _Run | None) -> Iterator[Found[Parsed] | Problem]:
    if run is None:
        return
    if run.rows is not None and not run.ended:
        message = "the console ends within the table of results: the run was cut off"
        yield Problem(run.line, ProblemCode.TRUNCATED, message)
    elif run.rows is None and not run.died:
        message = "the console ends before the results: the run was killed, or is still under way"
        yield Problem(run.line, ProblemCode.NO_RESULTS, message)
    else:
        yield Found(run.line, _parsed(run))


def _parsed(run: _Run) -> Parsed:
    asked = run.arguments or {}
    document = {name: asked[name] for name in _ASKED if name in asked} | _fields(run.rows or {})
    (parsed,) = bench_serving.parse(document)
    facts = replace(parsed.facts, requests_asked=whole(asked, "num_prompts"))
    if run.rows is None:
        facts = replace(facts, requests_completed=0, all_zero=True)
    condition = {**parsed.condition, **_told(asked)}
    return replace(parsed, tool_version=None, condition=condition, facts=facts)


def _told(arguments: Document) -> dict[str, Fact]:
    """Return what the arguments tell of the condition and the result file does not."""
    told: dict[str, Fact] = {
        "requests": whole(arguments, "num_prompts"),
        "warmup_requests": whole(arguments, "warmup_requests"),
        "temperature": number(arguments, "temperature"),
    }
    if isinstance(stops := arguments.get("disable_ignore_eos"), bool):
        told["ignore_eos"] = not stops
    return {name: value for name, value in told.items() if value is not None}


def _fields(rows: dict[str, str]) -> dict[str, str]:
    """Return the rows of a table under the names that the result file has for them."""
    found = {key: rows[label] for label, key in _LABELS.items() if label in rows}
    if found.get("max_concurrency") == "not":
        del found["max_concurrency"]
    for label, value in rows.items():
        if row := _LATENCY.fullmatch(label):
            statistic, latency = (word.lower().replace(" ", "_") for word in row.groups())
            found[f"{statistic}_{latency}_ms"] = value
    return found


TEXT_TOOL = TextTool(NAME, recognises, parse)
