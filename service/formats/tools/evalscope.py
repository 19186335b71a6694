"""Results of evalscope perf: a run's summary, and its throughput by window.

Sources: the tool's benchmark_util.py, perf_constants.py and db_util.py over its releases.
"""

from types import MappingProxyType

from service.domain.resolution import Fact
from service.domain.validity import RunFacts
from service.formats.tools.fields import above_zero, is_no_quantity, number, text, whole
from service.formats.tools.problem_codes import ProblemCode
from service.formats.tools.tool import Document, Parsed, Problem, Tool

NAME = "evalscope.perf"

# What the tool means by one name. Up to a release without inter-token latency, time per output
# token was time per package of the stream, and the clock ran until the client had worked off the
# last answer. Then it is (latency - TTFT) / (tokens - 1), first in seconds of four decimals, then
# in milliseconds. Since requests are counted as streamed or not, the averages of TTFT and TPOT
# are over the streamed ones alone.
PACKAGES = 1
SECONDS = 2
MILLISECONDS = 3
STREAMED_ONLY = 4

# Metric to key and factor, of each spelling there has been; units are in the keys themselves.
_SECONDS = MappingProxyType(
    {
        "duration": ("Time taken for tests (s)", 1.0),
        "request_throughput": ("Request throughput (req/s)", 1.0),
        "output_throughput": ("Output token throughput (tok/s)", 1.0),
        "total_throughput": ("Total token throughput (tok/s)", 1.0),
        "e2e_mean": ("Average latency (s)", 1.0),
        "ttft_mean": ("Average time to first token (s)", 1.0),
        "tpot_mean": ("Average time per output token (s)", 1.0),
        "itl_mean": ("Average inter-token latency (s)", 1.0),
    }
)
_PACKAGES = MappingProxyType(
    {name: key for name, key in _SECONDS.items() if name != "tpot_mean"}
    | {"itl_mean": ("Average package latency (s)", 1.0)}
)
_MILLISECONDS = MappingProxyType(
    {
        # Input throughput is of embeddings alone, over the time to first answers; else it is 0.0.
        "duration": ("Test Duration (s)", 1.0),
        "request_throughput": ("Req Throughput (req/s)", 1.0),
        "output_throughput": ("Output Throughput (tok/s)", 1.0),
        "total_throughput": ("Total Throughput (tok/s)", 1.0),
        "e2e_mean": ("Avg Latency (s)", 1.0),
        "ttft_mean": ("Avg TTFT (ms)", 1e-3),
        "tpot_mean": ("Avg TPOT (ms)", 1e-3),
        "itl_mean": ("Avg ITL (ms)", 1e-3),
    }
)
_OLDER_MILLISECONDS = MappingProxyType(
    _MILLISECONDS
    | {
        "ttft_mean": ("TTFT (ms)", 1e-3),
        "tpot_mean": ("TPOT (ms)", 1e-3),
        "itl_mean": ("ITL (ms)", 1e-3),
    }
)
_OF_TOKENS = ("ttft", "tpot", "itl")
# Rounded to four decimals, a mean of at least this many requests no longer tells the sum.
_MOST_SUMMED = 9_999
# The summary rounds to two decimals of a millisecond.
_ROUNDING_S = 2e-4

_SUMMARIES = (
    frozenset({"Total requests", "Succeed requests"}),
    frozenset({"Total Requests", "Success Requests"}),
)
_WINDOWS = frozenset({"n_samples", "wall_time_s", "rows"})
_ARGUMENTS = frozenset({"parallel", "number", "rate", "dataset", "outputs_dir"})
_PAGES = (
    frozenset({"summary_columns", "summary_rows"}),
    frozenset({"runs", "total"}),
)
_ROWS = MappingProxyType(
    {"Total Prompt tok/s": "input_throughput", "Completion tok/s": "output_throughput"}
)


def recognises(document: Document) -> bool:
    """Return whether an object is one of those this tool writes beside each other."""
    keys = document.keys()
    return (
        any(known <= keys for known in (*_SUMMARIES, _WINDOWS, _ARGUMENTS))
        or _PAGES[0] <= keys
        or _is_page_of_runs(document)
    )


def parse(document: Document) -> tuple[Parsed | Problem]:
    """Return what one object tells: a result, or why it is none."""
    keys = document.keys()
    if any(known <= keys for known in _SUMMARIES):
        return (_summary(document),)
    if keys >= _WINDOWS:
        return (_windows(document),)
    if keys >= _ARGUMENTS:
        return (Problem(None, ProblemCode.ARGUMENTS_ONLY, _ARGUMENTS_ONLY),)
    return (Problem(None, ProblemCode.NOT_A_RESULT, _PAGE),)


_ARGUMENTS_ONLY = (
    "the arguments of an evalscope run and none of its results: "
    "they are in benchmark_summary.json beside it"
)
_PAGE = (
    "a page of evalscope's web interface, not what the run wrote: "
    "read the benchmark_summary.json of the run"
)


def _is_page_of_runs(document: Document) -> bool:
    runs = document.get("runs")
    return (
        document.keys() >= _PAGES[1]
        and isinstance(runs, list)
        and any(isinstance(run, dict) and "percentile_rows" in run for run in runs)
    )


def _summary(document: Document) -> Parsed:
    definition = _definition(document)
    keys = _keys(document, definition)
    metrics = {
        name: value * factor
        for name, (key, factor) in keys.items()
        if (value := above_zero(document, key)) is not None
    }
    streamed = _is_streamed(document, metrics)
    if not streamed:
        # Then the first token is the whole answer, and no token has a time of its own.
        metrics = {
            name: value for name, value in metrics.items() if not name.startswith(_OF_TOKENS)
        }
    if hit := above_zero(document, "KV Cache Hit Rate (%)"):
        metrics["cache_hit"] = hit / 100
    return Parsed(
        tool_version=_version(document, definition),
        definition=definition,
        condition=_condition(document),
        metrics=metrics,
        facts=_facts(document, metrics, keys, streamed=streamed),
    )


def _definition(document: Document) -> int:
    if "Total requests" in document:
        return PACKAGES if "Average package latency (s)" in document else SECONDS
    return STREAMED_ONLY if "Stream Requests" in document else MILLISECONDS


def _version(document: Document, definition: int) -> str:
    if definition in {PACKAGES, SECONDS}:
        return "<1.7"
    return ">=1.7,<1.10" if "TTFT (ms)" in document else ">=1.10"


def _keys(document: Document, definition: int) -> MappingProxyType[str, tuple[str, float]]:
    if definition == PACKAGES:
        return _PACKAGES
    if definition == SECONDS:
        return _SECONDS
    return _OLDER_MILLISECONDS if "TTFT (ms)" in document else _MILLISECONDS


def _is_streamed(document: Document, metrics: dict[str, float]) -> bool:
    """Return whether tokens were seen one by one.

    Releases that do not count streamed requests say it by a first token that is as late as the
    whole answer, and no time between tokens.
    """
    streamed, plain = whole(document, "Stream Requests"), whole(document, "Non-Stream Requests")
    if streamed is not None and plain is not None:
        return streamed > 0 or plain == 0
    first, last = metrics.get("ttft_mean"), metrics.get("e2e_mean")
    if first is None or last is None or "itl_mean" in metrics:
        return True
    return abs(first - last) > _ROUNDING_S


def _condition(document: Document) -> dict[str, Fact]:
    told: dict[str, Fact] = {}
    if (requests := _first(document, "Total requests", "Total Requests")) is not None:
        told["requests"] = requests
    rate = _rate(document)
    if rate is not None:
        # The tool writes -1 for as fast as the concurrency lets it.
        told["load"] = "open" if rate > 0 else "closed"
        told["request_rate"] = rate if rate > 0 else "inf"
    if concurrency := _concurrency_asked(document):
        told["concurrency"] = concurrency
    return told


def _rate(document: Document) -> float | None:
    rate = number(document, "Request rate (req/s)")
    return number(document, "Request Rate (req/s)") if rate is None else rate


def _concurrency_asked(document: Document) -> int | None:
    asked = _first(document, "Number of concurrency", "Concurrency")
    return asked if asked is not None and asked > 0 else None


def _facts(
    document: Document,
    metrics: dict[str, float],
    keys: MappingProxyType[str, tuple[str, float]],
    *,
    streamed: bool,
) -> RunFacts:
    completed = _first(document, "Succeed requests", "Success Requests")
    rate = _rate(document)
    return RunFacts(
        requests_completed=completed,
        requests_asked=_first(document, "Total requests", "Total Requests"),
        input_tokens=_in_all(
            document, ("Average input tokens per request", "Avg Input Tokens"), completed
        ),
        output_tokens=_in_all(
            document, ("Average output tokens per request", "Avg Output Tokens"), completed
        ),
        streamed=streamed,
        # One gap is one chunk of the stream, and the tool says when a chunk holds several tokens.
        itl_per_token=False,
        # A mean of 0.0 is a median of 0.0; more is not known of the median from here.
        ttft_p50=_zero(document, keys["ttft_mean"][0]),
        itl_p50=_zero(document, keys["itl_mean"][0]),
        not_finite=tuple(
            sorted(name for name, (key, _) in keys.items() if is_no_quantity(document, key))
        ),
        cache_hit=metrics.get("cache_hit"),
        concurrency=_in_flight(metrics, completed),
        concurrency_asked=None if rate and rate > 0 else _concurrency_asked(document),
        duration_s=metrics.get("duration"),
    )


def _first(document: Document, *names: str) -> int | None:
    return next(
        (value for name in names if (value := whole(document, name)) is not None and value >= 0),
        None,
    )


def _in_all(document: Document, names: tuple[str, ...], completed: int | None) -> int | None:
    """Return a sum from its mean over requests, where four decimals still tell it."""
    if completed is None or completed > _MOST_SUMMED:
        return None
    mean = next((value for name in names if (value := number(document, name)) is not None), None)
    return round(mean * completed) if mean is not None and mean >= 0 else None


def _zero(document: Document, key: str) -> float | None:
    return 0.0 if number(document, key) == 0 else None


def _in_flight(metrics: dict[str, float], completed: int | None) -> float | None:
    latency, duration = metrics.get("e2e_mean"), metrics.get("duration")
    if latency is None or duration is None or completed is None:
        return None
    return latency * completed / duration


def _windows(document: Document) -> Parsed:
    rows = document.get("rows")
    found = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    told = {
        name: row for row in found if (name := _ROWS.get(text(row, "metric") or "")) is not None
    }
    metrics = {
        name: value
        for name, row in told.items()
        if (value := above_zero(row, "overall")) is not None
    }
    if duration := above_zero(document, "wall_time_s"):
        metrics["duration"] = duration
    return Parsed(
        tool_version=">=1.10",
        definition=STREAMED_ONLY,
        condition={},
        metrics=metrics,
        facts=RunFacts(
            requests_completed=whole(document, "n_samples"),
            not_finite=tuple(
                sorted(name for name, row in told.items() if is_no_quantity(row, "overall"))
            ),
            duration_s=metrics.get("duration"),
        ),
    )


TOOL = Tool(NAME, recognises, parse)
