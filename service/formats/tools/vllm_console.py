"""What vllm bench serve prints: the table at the end of a run, and what was said before it.

The table holds no condition. The line of arguments that the tool prints first tells it, where the
log still has it; so do three lines before the load. Latencies are rounded to 0.01 ms there, so
these are another tool's readings than those of the result files, and the two are never compared.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from types import MappingProxyType

from service.domain.resolution import Fact
from service.domain.validity import RunFacts
from service.formats.tools import vllm_serve
from service.formats.tools.fields import number, text, whole
from service.formats.tools.printed_arguments import arguments_in
from service.formats.tools.problem_codes import ProblemCode
from service.formats.tools.tool import Document, Found, Parsed, Problem, TextTool

NAME = "vllm.bench_serve_console"

# Until 0.10.2 the table does not tell whether 0.7.0 counted its output tokens. After that the
# changes of 0.20 and 0.30 (vllm_serve.EITHER_INPUT, ONE_CLOCK) leave no trace in it.
UNKNOWN = 0
EITHER_OUTPUT = 1
COUNTED_BY_SERVER = 2

# Of a table that ends, and of what is worth looking at in a line.
MOST_LINES = 200
MOST_CHARACTERS = 20_000
LINES_TO_BACKEND = 3

# A text that some model wrote may hold the title too, but in quotes.
_TITLE = re.compile(r'[^"{]{0,200}?(?<!=)={5,60} Serving Benchmark Result ={5}')
_END = re.compile(r"(?<!\S)={40,60}\s*$")
_LABELS = MappingProxyType(
    {
        "successful requests": "completed",
        "failed requests": "failed",
        "maximum request concurrency": "max_concurrency",
        "request rate configured (rps)": "request_rate",
        "benchmark duration (s)": "duration",
        "total input tokens": "total_input_tokens",
        "total generated tokens": "total_output_tokens",
        "request throughput (req/s)": "request_throughput",
        "peak output token throughput (tok/s)": "max_output_tokens_per_s",
        "output token throughput (tok/s)": "output_throughput",
        "peak concurrent requests": "max_concurrent_requests",
        "total token throughput (tok/s)": "total_token_throughput",
        "acceptance length": "spec_decode_acceptance_length",
    }
)
_ROW = re.compile(
    rf"(?P<label>{'|'.join(map(re.escape, _LABELS))}"
    r"|(?P<statistic>mean|median|p\d{1,2}) (?P<latency>ttft|tpot|itl|e2el) \(ms\)):"
    r"\s+(?P<value>\S+)",
    re.IGNORECASE,
)
# SGLang's client prints the same title.
_OF_SGLANG = re.compile(r"Backend:\s|E2E Latency \(ms\):|\(retokenized\):")
_SPELT_SINCE_0_13 = "Total token throughput"
_PROGRESS = re.compile(r"(?:^|[\r\n]) {0,2}\d{1,3}%\|[^|\r\n]*\| *\d{1,9}/(\d{1,9}) \[")
_ARGUMENTS = "Namespace("
# Which of the commands of vllm bench it is, among its arguments.
_COMMAND = "bench_type='serve'"
_DIED = re.compile(r"Traceback \(most recent call last\)|(?<![\w.])\w*Error: ")
_BEFORE_LOAD = re.compile(
    r"(Traffic request rate|Burstiness factor|Maximum request concurrency):\s*(\S+)"
)
_BEFORE = MappingProxyType(
    {
        "Traffic request rate": "request_rate",
        "Burstiness factor": "burstiness",
        "Maximum request concurrency": "max_concurrency",
    }
)
_NAMES = MappingProxyType(
    {
        "model": "model_id",
        "tokenizer": "tokenizer_id",
        "num_prompts": "num_prompts",
        "request_rate": "request_rate",
        "burstiness": "burstiness",
        "max_concurrency": "max_concurrency",
    }
)


@dataclass(slots=True)
class _Before:
    """What was said since the last table: the arguments, the load, and its progress.

    line: of the arguments of vllm bench serve. died: whether the tool ended with an error.
    """

    line: int | None = None
    arguments: Document = field(default_factory=dict)
    load: dict[str, str] = field(default_factory=dict)
    requests: str | None = None
    died: bool = False

    def hear(self, line: str) -> None:
        """Take from a line what it tells."""
        if found := _BEFORE_LOAD.search(line):
            self.load[_BEFORE[found[1]]] = found[2]
        elif seen := _PROGRESS.findall(line):
            self.requests = seen[-1]
        elif self.line is not None and _DIED.search(line):
            self.died = True


@dataclass(slots=True)
class _Table:
    """A table under way: the line where it begins, and what its rows tell so far."""

    line: int
    rows: dict[str, str] = field(default_factory=dict)
    lines: int = 0
    of_sglang: bool = False
    since_0_13: bool = False

    def hear(self, line: str) -> None:
        """Take a row; what else is printed among them is passed over."""
        self.lines += 1
        self.of_sglang = self.of_sglang or _OF_SGLANG.search(line) is not None
        self.since_0_13 = self.since_0_13 or _SPELT_SINCE_0_13 in line
        if found := _ROW.search(line):
            latency = f"{found['statistic']}_{found['latency']}_ms".lower()
            key = _LABELS.get(found["label"].lower(), latency)
            self.rows.setdefault(key, found["value"])


def recognises(lines: Sequence[str]) -> bool:
    """Return whether a text holds a table of this tool, or the arguments of its command.

    SGLang's tables begin with their backend.
    """
    return any(
        _COMMAND in line
        or (_is_title(line) and not any(map(_OF_SGLANG.search, lines[at : at + LINES_TO_BACKEND])))
        for at, line in enumerate(lines, start=1)
    )


def parse(lines: Iterable[str]) -> Iterator[Found[Parsed] | Problem]:
    """Yield one result a run, in our words and base units, also for a run that died."""
    before, table = _Before(), None
    for count, whole_line in enumerate(lines, start=1):
        # A progress bar draws over itself: what counts is the end of its line.
        line = whole_line[-MOST_CHARACTERS:]
        if _ARGUMENTS in whole_line and table is None:
            yield from _without_table(before)
            before = _arguments(whole_line, count)
        elif _is_title(whole_line):
            yield from () if table is None else (_unended(table),)
            before = before if table is None else _Before()
            before.hear(line)
            table = _Table(count)
        elif table is None:
            before.hear(line)
        elif _END.search(line):
            yield _ended(table, before)
            before, table = _Before(), None
        elif table.lines < MOST_LINES:
            table.hear(line)
    yield from _without_table(before) if table is None else (_unended(table),)


def _is_title(line: str) -> bool:
    """Return whether a table begins here, also at the end of a progress bar's last drawing."""
    return _TITLE.match(line.rstrip().rpartition("\r")[2]) is not None


def _arguments(line: str, count: int) -> _Before:
    told = arguments_in(line[line.index(_ARGUMENTS) :]) or {}
    # Only its command prints which of several benchmarks it is; the older script prints nothing.
    return _Before(count if _COMMAND in line else None, told)


def _without_table(before: _Before) -> Iterator[Found[Parsed] | Problem]:
    """Yield what becomes of arguments that no table follows: the run died, or is not over."""
    if before.line is None:
        return
    if not before.died:
        message = "the console ends before the results: the run was killed, or is still under way"
        yield Problem(before.line, ProblemCode.NO_RESULTS, message)
        return
    asked = whole(before.arguments, "num_prompts")
    parsed = Parsed(
        tool_version=None,
        definition=UNKNOWN,
        condition=_condition(_asked(before), before.arguments),
        metrics={},
        facts=RunFacts(requests_completed=0, requests_asked=asked, all_zero=True),
    )
    yield Found(before.line, parsed)


def _unended(table: _Table) -> Problem:
    return Problem(
        table.line,
        ProblemCode.TRUNCATED,
        "the table of results does not end: the log was cut, or the tool stopped as it wrote",
    )


def _ended(table: _Table, before: _Before) -> Found[Parsed] | Problem:
    if table.of_sglang:
        message = (
            "a table that SGLang's bench_serving prints: read the file that its --output-file "
            "names, which holds all of it"
        )
        return Problem(table.line, ProblemCode.UNKNOWN_TOOL, message)
    if "completed" not in table.rows:
        message = "a table of results that does not tell how many requests succeeded"
        return Problem(table.line, ProblemCode.MALFORMED, message)
    return Found(table.line, _parsed(table, before))


def _parsed(table: _Table, before: _Before) -> Parsed:
    # The bar counts requests that were sent, which may be fewer than were asked for.
    sent = {} if before.requests is None else {"num_prompts": before.requests}
    document: Document = {**_asked(before), **sent, **table.rows}
    releases, definition = _era(table)
    metrics, facts = vllm_serve.read(document)
    if definition == COUNTED_BY_SERVER:
        facts = _with_lengths(facts, before.arguments)
    return Parsed(
        tool_version=releases,
        definition=definition,
        condition=_condition(document, before.arguments),
        metrics=metrics,
        facts=facts,
    )


def _asked(before: _Before) -> dict[str, object]:
    """Return what was asked for, under the names that the result file has for it."""
    told = before.arguments
    asked = {key: told[name] for name, key in _NAMES.items() if told.get(name) is not None}
    return {**asked, **before.load}


def _era(table: _Table) -> tuple[str, int]:
    if "failed" in table.rows:
        return (">=0.13" if table.since_0_13 else ">=0.11.1,<0.13"), COUNTED_BY_SERVER
    if "max_concurrent_requests" in table.rows:
        return ">=0.11.0,<0.11.1", COUNTED_BY_SERVER
    return "<0.11.0", EITHER_OUTPUT


def _with_lengths(facts: RunFacts, arguments: Document) -> RunFacts:
    """Return the facts with the bounds that a made-up load keeps to.

    A ratio r means lengths from L(1 - r) to L(1 + r); before 0.8 it meant something else.
    """
    ratio = number(arguments, "random_range_ratio")
    if text(arguments, "dataset_name") != "random" or ratio is None or not 0 <= ratio < 1:
        return facts
    prefix = whole(arguments, "random_prefix_len") or 0
    bounds = [
        None if length is None else (int(length * (1 - ratio)), ceil(length * (1 + ratio)))
        for length in (whole(arguments, "random_input_len"), whole(arguments, "random_output_len"))
    ]
    given, wanted = bounds
    return replace(
        facts,
        input_lengths=None if given is None else (given[0] + prefix, given[1] + prefix),
        output_lengths=wanted,
        ignore_eos=arguments.get("ignore_eos") is True,
    )


def _condition(document: Document, arguments: Document) -> dict[str, Fact]:
    told: dict[str, Fact] = {}
    for ours, theirs in (("model", "model_id"), ("tokenizer", "tokenizer_id")):
        if path := text(document, theirs):
            told[ours] = vllm_serve.model_name(path)
    if "num_prompts" in document:
        told["requests"] = whole(document, "num_prompts")
    if "request_rate" in document:
        told["request_rate"] = vllm_serve.rate_of(document)
    if "max_concurrency" in document:
        told["concurrency"] = whole(document, "max_concurrency")
    if (burstiness := number(document, "burstiness")) is not None:
        told["burstiness"] = burstiness
    if backend := text(arguments, "backend") or text(arguments, "endpoint_type"):
        told["backend"] = backend
    return told | _dataset(arguments)


def _dataset(arguments: Document) -> dict[str, Fact]:
    dataset = text(arguments, "dataset_name")
    if dataset is None:
        return {}
    told: dict[str, Fact] = {
        "dataset": dataset,
        "ignore_eos": arguments.get("ignore_eos") is True,
    }
    if dataset == "random":
        told |= {
            "input_tokens": whole(arguments, "random_input_len"),
            "output_tokens": whole(arguments, "random_output_len"),
            "range_ratio": number(arguments, "random_range_ratio"),
        }
    return told


TEXT_TOOL = TextTool(NAME, recognises, parse)
