"""Results of guidellm: a report of benchmarks, one for each strategy of a sweep.

Sources: the tool's schemas/request_stats.py, benchmark/schemas and benchmark/outputs/csv.py.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from service.domain.resolution import Fact
from service.domain.validity import RunFacts
from service.formats.tools.fields import above_zero, is_no_quantity, number, section, text, whole
from service.formats.tools.problem_codes import ProblemCode
from service.formats.tools.tool import Document, Parsed, Problem, Tool

NAME = "guidellm"

# The meaning follows the report's own version. Before it had one, time per output token began at
# the first token and rates were estimated from how requests lay over each other; with version 1
# a time to first token of answers in one piece is absent; with version 2 the time between tokens
# is weighted by the tokens of each request.
UNVERSIONED = 1
_DEFINITIONS = MappingProxyType({1: 2, 2: 3})

# Metric of ours to the tool's name and factor. The tool's inter-token latency is one number a
# request, (last token - first token) / (tokens - 1), which is our TPOT; its time per output token
# holds the first token as well and is no metric of ours. It keeps no gap between two tokens.
LATENCIES = MappingProxyType(
    {
        "ttft": ("time_to_first_token_ms", 1e-3),
        "tpot": ("inter_token_latency_ms", 1e-3),
        "e2e": ("request_latency", 1.0),
    }
)
# Means over the time measured. Their other statistics are of the moments of it.
MEANS = MappingProxyType(
    {
        "request_throughput": "requests_per_second",
        "input_throughput": "prompt_tokens_per_second",
        "output_throughput": "output_tokens_per_second",
        "total_throughput": "tokens_per_second",
        "concurrency": "request_concurrency",
    }
)
_STATISTICS = ("p90", "p95", "p99")
_MARKS = frozenset({"request_latency", "request_totals", "time_to_first_token_ms"})
_LOADS = MappingProxyType(
    {
        "concurrent": "closed",
        "synchronous": "closed",
        "throughput": "closed",
        "constant": "open",
        "poisson": "open",
        "async": "open",
    }
)
# The names a bound has had; under one of time, the last requests are cut off on purpose.
_OF_REQUESTS = ("max_requests", "max_number", "max_num")
_OF_TIME = ("max_duration", "max_dur", "max_seconds", "max_sec", "max_minutes", "max_min")
_BOUNDS = ("count", "duration", "max_num", "max_duration")
# A sweep has as many benchmarks as it has rates; more is something else.
MOST_BENCHMARKS = 10_000


def recognises(document: Document) -> bool:
    """Return whether an object is a report of this tool: a list of benchmarks with its metrics."""
    benchmarks = document.get("benchmarks")
    if not isinstance(benchmarks, list):
        return False
    if "guidellm_version" in section(document, "metadata"):
        return True
    return any(
        isinstance(each, dict) and not _MARKS.isdisjoint(section(each, "metrics"))
        for each in benchmarks[:MOST_BENCHMARKS]
    )


def parse(document: Document) -> tuple[Parsed | Problem, ...]:
    """Return one result a benchmark, or that the report holds none."""
    found = tuple(
        _benchmark(each, document)
        for each in document["benchmarks"][:MOST_BENCHMARKS]
        if isinstance(each, dict)
    )
    return found or (
        Problem(None, ProblemCode.NO_RESULTS, "a guidellm report without a benchmark in it"),
    )


def definition_of(metadata: Document) -> int:
    """Return the tool's definition of its metrics in a report with this metadata."""
    return _DEFINITIONS.get(whole(metadata, "version") or 0, UNVERSIONED)


def _benchmark(benchmark: Document, report: Document) -> Parsed:
    metadata = section(report, "metadata")
    metrics = _metrics(section(benchmark, "metrics"))
    duration = _duration(benchmark)
    if duration is not None:
        metrics["duration"] = duration
    spec = spec_of(report)
    return Parsed(
        tool_version=text(metadata, "guidellm_version"),
        definition=definition_of(metadata),
        condition=condition(_config(benchmark), spec),
        metrics=metrics,
        facts=_facts(benchmark, spec, metrics),
    )


def spec_of(report: Document) -> Document:
    """Return what a whole report was asked for, wherever its version keeps it."""
    spec = section(section(report, "config"), "spec")
    return spec or section(report, "args")


def _config(benchmark: Document) -> Document:
    """Return what one benchmark was asked for; reports without a version call it its arguments."""
    return section(benchmark, "config") or section(benchmark, "args")


def _metrics(told: Document) -> dict[str, float]:
    found: dict[str, float] = {}
    for latency, (key, factor) in LATENCIES.items():
        values = _statistics(section(section(told, key), "successful"))
        found |= {f"{latency}_{name}": value * factor for name, value in values.items()}
    for name, key in MEANS.items():
        if (mean := above_zero(section(section(told, key), "successful"), "mean")) is not None:
            found[name] = mean
    return found


def _statistics(distribution: Document) -> dict[str, float]:
    percentiles = section(distribution, "percentiles")
    told = {
        "mean": above_zero(distribution, "mean"),
        "p50": above_zero(distribution, "median"),
    } | {name: above_zero(percentiles, name) for name in _STATISTICS}
    return {name: value for name, value in told.items() if value is not None}


def _duration(benchmark: Document) -> float | None:
    """Return the seconds that were measured: the whole run but for its warm-up and cool-down."""
    times = section(benchmark, "scheduler_metrics")
    begin, end = number(times, "measure_start_time"), number(times, "measure_end_time")
    if begin is not None and end is not None and end > begin:
        return end - begin
    return above_zero(benchmark, "duration")


def condition(config: Document, spec: Document) -> dict[str, Fact]:
    """Return what a benchmark's own configuration and that of the whole report tell."""
    strategy = section(config, "strategy")
    told = _load(strategy) | _lengths(synthetic(spec))
    backend = section(config, "backend") or section(spec, "backend")
    model = text(backend, "model") or text(spec, "model")
    if model and model.strip("/"):
        told["model"] = model.rstrip("/").rpartition("/")[2]
    if api := text(backend, "request_format"):
        told["request_format"] = api
    constraints = section(config, "constraints")
    for name, kinds in (("requests", _OF_REQUESTS), ("max_duration_s", _OF_TIME[:1])):
        if (bound := _bound(constraints, kinds)) is not None:
            told[name] = bound
    return told


def _load(strategy: Document) -> dict[str, Fact]:
    kind = text(strategy, "type_") or ""
    told: dict[str, Fact] = {"strategy": kind} if kind else {}
    if (load := _LOADS.get(kind)) is not None:
        told["load"] = load
    if (streams := streams_of(strategy)) is not None:
        told["concurrency"] = streams
    if told.get("load") == "open" and (rate := above_zero(strategy, "rate")) is not None:
        told["request_rate"] = rate
    return told


def streams_of(strategy: Document) -> int | None:
    """Return how many requests were to be in flight; an open load has only a far-off bound."""
    match text(strategy, "type_"):
        case "synchronous":
            return 1
        case "concurrent":
            return whole(strategy, "streams")
        case _:
            return None


def _bound(constraints: Document, kinds: Iterable[str]) -> float | int | None:
    for kind in kinds:
        asked = section(section(constraints, kind), "args")
        for key in _BOUNDS:
            if (bound := above_zero(asked, key)) is not None:
                return int(bound) if bound.is_integer() else bound
    return None


def synthetic(spec: Document) -> Document:
    """Return the one set of made-up prompts that was asked for, or nothing."""
    data = spec.get("data")
    found = data[0] if isinstance(data, list) and len(data) == 1 else None
    return found if isinstance(found, dict) else {}


def _lengths(data: Document) -> dict[str, Fact]:
    told: dict[str, Fact] = {}
    if kind := text(data, "kind"):
        told["dataset"] = kind
    for ours, theirs in (("input_tokens", "prompt_tokens"), ("output_tokens", "output_tokens")):
        if (length := whole(data, theirs)) is not None:
            told[ours] = length
        if spread := above_zero(data, f"{theirs}_stdev"):
            told[f"{ours}_stdev"] = spread
    return told


def _facts(benchmark: Document, spec: Document, metrics: Mapping[str, float]) -> RunFacts:
    told, config = section(benchmark, "metrics"), _config(benchmark)
    totals = section(told, "request_totals") or section(benchmark, "request_totals")
    completed = whole(totals, "successful")
    backend = section(config, "backend") or section(spec, "backend")
    return RunFacts(
        requests_completed=completed,
        requests_asked=asked_of(totals, section(config, "constraints") or config),
        input_tokens=_sum(told, "prompt_token_count"),
        output_tokens=_sum(told, "output_token_count"),
        # The counts of input tokens are the server's, with its chat template in them.
        output_lengths=output_lengths(synthetic(spec)),
        streamed=backend.get("stream") is not False,
        ttft_p50=_median(told, "ttft"),
        tpot_p50=_median(told, "tpot"),
        not_finite=_not_finite(told),
        concurrency=metrics.get("concurrency"),
        concurrency_asked=streams_of(section(config, "strategy")),
        duration_s=metrics.get("duration"),
    )


def asked_of(totals: Document, constraints: Document) -> int | None:
    """Return how many requests should have completed.

    Under a bound of time, the requests that were under way at its end are cut off on purpose.
    """
    completed, errored = whole(totals, "successful"), whole(totals, "errored")
    if completed is None or errored is None:
        return whole(totals, "total")
    cut_off = whole(totals, "incomplete") or 0
    timed = any(constraints.get(name) is not None for name in _OF_TIME)
    return completed + errored + (0 if timed else cut_off)


def output_lengths(data: Document) -> tuple[int, int] | None:
    """Return the length asked of every answer, where it was one length.

    The tool asks for made-up prompts' answers to go past the end mark.
    """
    length = whole(data, "output_tokens")
    spread = (data.get(f"output_tokens_{name}") for name in ("stdev", "min", "max"))
    if length is None or any(value is not None for value in spread):
        return None
    return length, length


def _sum(told: Document, name: str) -> int | None:
    return whole(section(section(told, name), "successful"), "total_sum")


def _median(told: Document, latency: str) -> float | None:
    key, factor = LATENCIES[latency]
    distribution = section(section(told, key), "successful")
    # Without a request to look at, the tool writes 0.0 for every statistic.
    if whole(distribution, "count") == 0:
        return None
    median = number(distribution, "median")
    return None if median is None else median * factor


def _not_finite(told: Document) -> tuple[str, ...]:
    found = {
        f"{latency}_{name}"
        for latency, (key, _) in LATENCIES.items()
        for name, place in (("mean", "mean"), ("p50", "median"))
        if is_no_quantity(section(section(told, key), "successful"), place)
    } | {
        name
        for name, key in MEANS.items()
        if is_no_quantity(section(section(told, key), "successful"), "mean")
    }
    return tuple(sorted(found))


TOOL = Tool(NAME, recognises, parse)
