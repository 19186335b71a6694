"""Results of aiperf, and of genai-perf before it: every metric an object with a unit of its own.

Sources: aiperf's src/aiperf/metrics/types and exporters; genai-perf's export_data.
"""

from collections.abc import Mapping
from types import MappingProxyType

from service.domain.metric import STATISTICS
from service.domain.validity import RunFacts
from service.formats.tools.aiperf_arguments import Asked, asked
from service.formats.tools.fields import above_zero, is_no_quantity, number, section, text, whole
from service.formats.tools.problem_codes import ProblemCode
from service.formats.tools.tool import Document, Parsed, Problem, Tool

NAME = "aiperf"
OLDER_NAME = "genai-perf"

# Metric of ours to the tool's. Its inter-token latency is one number a request,
# (latency - TTFT) / (tokens - 1), which is our TPOT; its inter-chunk latency is between two chunks
# of the stream, each of one token or more.
LATENCIES = MappingProxyType(
    {
        "ttft": "time_to_first_token",
        "tpot": "inter_token_latency",
        "itl": "inter_chunk_latency",
        "e2e": "request_latency",
    }
)
SINGLES = MappingProxyType(
    {
        "request_throughput": "request_throughput",
        "input_throughput": "input_token_throughput",
        "output_throughput": "output_token_throughput",
        "total_throughput": "total_token_throughput",
        "duration": "benchmark_duration",
        "concurrency": "effective_concurrency",
    }
)
Factors = Mapping[str, float]
TIME: Factors = MappingProxyType(
    {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "seconds": 1.0}
)
_RATE: Factors = MappingProxyType(
    dict.fromkeys(("requests/sec", "tokens/sec", "requests/s", "tokens/s", "per sec"), 1.0)
)
_COUNT: Factors = MappingProxyType(dict.fromkeys(("requests", "count", ""), 1.0))
_UNITS: Mapping[str, Factors] = MappingProxyType(
    dict.fromkeys(LATENCIES.values(), TIME)
    | dict.fromkeys(SINGLES.values(), _RATE)
    | {"benchmark_duration": TIME, "effective_concurrency": _COUNT}
)
_SPELLING = MappingProxyType({"mean": "avg"})

# What the tools mean by one name. Times in nanoseconds are of the first genai-perf, whose
# inter-token latency was taken from the gaps between answers and is left out. Since then it is one
# number a request, over all tokens but the first. Tokens are those of the text, as the tool's own
# tokenizer counts them, unless it was told to take the server's counts.
GAPS = 1
PER_REQUEST = 2
BY_SERVER = 4

_OUTCOME = frozenset({"was_cancelled", "error_summary", "input_config"})
_MARKS = ("request_latency", "request_throughput", "request_count", "error_request_count")
_OF_AIPERF = frozenset({"aiperf_version", "was_cancelled"})


def is_of_aiperf(document: Document) -> bool:
    """Return whether an object is of aiperf: it tells the tool's release or how the run ended."""
    return _is_of_either(document) and not _OF_AIPERF.isdisjoint(document)


def is_of_genai_perf(document: Document) -> bool:
    """Return whether an object has the shape of both tools and nothing that only aiperf writes."""
    return _is_of_either(document) and _OF_AIPERF.isdisjoint(document)


def _is_of_either(document: Document) -> bool:
    return document.keys() >= _OUTCOME or any("unit" in section(document, name) for name in _MARKS)


def parse(document: Document) -> tuple[Parsed | Problem]:
    """Return the one result of an object, or that a unit in it is none we know."""
    unknown = [name for name in _UNITS if section(document, name) and _factor(document, name) == 0]
    if unknown:
        units = ", ".join(f"{name} in {section(document, name).get('unit')!r}" for name in unknown)
        return (Problem(None, ProblemCode.UNKNOWN_UNIT, f"a unit that is not known: {units}"),)
    metrics = _metrics(document)
    wanted = asked(section(document, "input_config"))
    parsed = Parsed(
        tool_version=text(document, "aiperf_version"),
        definition=_definition(document, wanted),
        condition=wanted.condition,
        metrics=metrics,
        facts=_facts(document, metrics, wanted),
    )
    return (parsed,)


def _factor(document: Document, name: str) -> float:
    """Return what brings a metric to its base unit, or 0 where its unit is none we know."""
    unit = text(section(document, name), "unit")
    return _UNITS[name].get(unit.casefold(), 0.0) if unit is not None else 0.0


def _definition(document: Document, wanted: Asked) -> int:
    if _is_of_gaps(document):
        return GAPS
    return BY_SERVER if wanted.server_counts else PER_REQUEST


def _is_of_gaps(document: Document) -> bool:
    return "ns" in {text(section(document, name), "unit") for name in LATENCIES.values()}


def _cells(document: Document) -> dict[str, tuple[Document, str, float]]:
    """Return where each of our metrics stands, and what brings it to its base unit."""
    cells = {
        f"{latency}_{statistic}": (name, _SPELLING.get(statistic, statistic))
        for latency, name in LATENCIES.items()
        for statistic in STATISTICS
        if not (latency == "tpot" and _is_of_gaps(document))
    } | {name: (theirs, "avg") for name, theirs in SINGLES.items()}
    return {
        ours: (section(document, name), statistic, _factor(document, name))
        for ours, (name, statistic) in cells.items()
    }


def _metrics(document: Document) -> dict[str, float]:
    return {
        name: value * factor
        for name, (told, statistic, factor) in _cells(document).items()
        if (value := above_zero(told, statistic)) is not None
    }


def _facts(document: Document, metrics: Mapping[str, float], wanted: Asked) -> RunFacts:
    completed = _completed(document)
    medians = {
        name: value * factor
        for name, (told, statistic, factor) in _cells(document).items()
        if name.endswith("_p50") and (value := number(told, statistic)) is not None
    }
    counted, by_server = _total(document, "total_osl"), _by_server(document, wanted)
    return RunFacts(
        requests_completed=completed,
        requests_asked=_requests_asked(document, completed, wanted),
        input_tokens=_total(document, "total_isl"),
        output_tokens=counted if by_server is None else by_server,
        output_lengths=_output_lengths(wanted),
        # Neither tool goes past the end mark unless it is told to.
        ignore_eos=wanted.ignore_eos,
        streamed=_is_streamed(document, wanted),
        itl_per_token=False,
        retokenised=None if wanted.server_counts else counted,
        ttft_p50=medians.get("ttft_p50"),
        tpot_p50=medians.get("tpot_p50"),
        itl_p50=medians.get("itl_p50"),
        not_finite=tuple(
            sorted(
                name
                for name, (told, statistic, _) in _cells(document).items()
                if is_no_quantity(told, statistic)
            )
        ),
        concurrency=_in_flight(metrics, completed),
        concurrency_asked=wanted.concurrency if wanted.rate is None else None,
        duration_s=metrics.get("duration"),
    )


def _total(document: Document, name: str) -> int | None:
    """Return a count that stands as the average of one value."""
    return whole(section(document, name), "avg")


def _completed(document: Document) -> int | None:
    """Return how many requests succeeded; a metric without a value is left out of the file."""
    completed = _total(document, "request_count")
    if completed is None and (_total(document, "error_request_count") or _errors(document)):
        return 0
    return completed


def _errors(document: Document) -> int:
    summary = document.get("error_summary")
    found = (
        [each for each in summary if isinstance(each, dict)] if isinstance(summary, list) else []
    )
    return sum(whole(each, "count") or 0 for each in found)


def _requests_asked(document: Document, completed: int | None, wanted: Asked) -> int | None:
    """Return how many requests should have completed: those asked for, or else those sent."""
    failed = _total(document, "error_request_count") or _errors(document)
    if completed is None:
        return wanted.requests
    if wanted.requests is not None:
        return max(wanted.requests, completed + failed)
    # genai-perf counts no failures, and what a cancelled run still had before it is not told.
    if _OF_AIPERF.isdisjoint(document) or document.get("was_cancelled") is True:
        return completed + failed if failed else None
    return completed + failed


def _by_server(document: Document, wanted: Asked) -> int | None:
    """Return the output tokens that the server counted: the tool's own count is of the text."""
    if wanted.server_counts:
        return _total(document, "total_osl")
    return _total(document, "total_usage_completion_tokens")


def _output_lengths(wanted: Asked) -> tuple[int, int] | None:
    if wanted.output_tokens is None or wanted.lengths_vary:
        return None
    return wanted.output_tokens, wanted.output_tokens


def _is_streamed(document: Document, wanted: Asked) -> bool:
    if wanted.streaming is not None:
        return wanted.streaming
    return "time_to_first_token" in document or "request_latency" not in document


def _in_flight(metrics: Mapping[str, float], completed: int | None) -> float | None:
    if (told := metrics.get("concurrency")) is not None:
        return told
    latency, rate = metrics.get("e2e_mean"), metrics.get("request_throughput")
    if latency is None or rate is None or completed is None:
        return None
    return latency * rate


TOOL = Tool(NAME, is_of_aiperf, parse)
OLDER_TOOL = Tool(OLDER_NAME, is_of_genai_perf, parse)
