"""Results of inference-perf: a stage's lifecycle report, or the summary of all stages.

Its time per output token and its gaps between tokens are left out. They are taken from a list of
arrival times that has one entry a token of the text tokenised again, so the count of entries, not
the server, sets their size (the tool's own notes tell of a factor of 1.9; in public results
the median gap is 0.04 ms where a token takes 25 ms). The rates of output and of all tokens come
from the same count, and carry a definition of their own where the server's count stands beside it.
"""

from collections.abc import Iterator
from types import MappingProxyType

from service.domain.resolution import Fact
from service.domain.validity import RunFacts
from service.formats.tools.fields import above_zero, count, is_no_quantity, number, section
from service.formats.tools.tool import Document, Parsed, Tool

NAME = "inference_perf"

RETOKENISED = 1
# The report also tells what the server counted; by an option of the tool its rates may be of it.
EITHER_COUNT = 2

_LATENCIES = MappingProxyType({"ttft": "time_to_first_token", "e2e": "request_latency"})
_STATISTICS = MappingProxyType(
    {"mean": "mean", "p50": "median", "p90": "p90", "p95": "p95", "p99": "p99"}
)
_RATES = MappingProxyType(
    {
        "request_throughput": "requests_per_sec",
        "input_throughput": "input_tokens_per_sec",
        "output_throughput": "output_tokens_per_sec",
        "total_throughput": "total_tokens_per_sec",
    }
)


def recognises(document: Document) -> bool:
    """Return whether an object is a lifecycle report of this tool.

    Its reports from the server's metrics have the same keys and nothing of the load in them.
    """
    return {"load_summary", "successes", "failures"} <= document.keys() and bool(
        section(document, "load_summary")
    )


def parse(document: Document) -> tuple[Parsed]:
    """Return one report in our words and base units."""
    successes, load = section(document, "successes"), section(document, "load_summary")
    values = dict(_values(successes))
    metrics = {
        name: value
        for name, (place, key) in values.items()
        if (value := above_zero(place, key)) is not None
    }
    not_finite = tuple(
        sorted(name for name, (place, key) in values.items() if is_no_quantity(place, key))
    )
    completed = count(successes, "count")
    failed = count(section(document, "failures"), "count")
    parsed = Parsed(
        tool_version=None,
        definition=EITHER_COUNT if "output_tokens" in successes else RETOKENISED,
        condition=_condition(load),
        metrics=metrics,
        facts=RunFacts(
            requests_completed=completed,
            requests_asked=_asked(load, completed, failed),
            ttft_p50=number(*values["ttft_p50"]),
            not_finite=not_finite,
            all_zero=not metrics and not not_finite,
            duration_s=number(document, "benchmark_time_seconds"),
        ),
    )
    return (parsed,)


def _values(successes: Document) -> Iterator[tuple[str, tuple[Document, str]]]:
    """Yield where each metric stands: the object and the key in it."""
    latencies = section(successes, "latency")
    for latency, theirs in _LATENCIES.items():
        place = section(latencies, theirs)
        for statistic, key in _STATISTICS.items():
            yield f"{latency}_{statistic}", (place, key)
    rates = section(successes, "throughput")
    for name, key in _RATES.items():
        yield name, (rates, key)


def _asked(load: Document, completed: int | None, failed: int | None) -> int | None:
    """Return how many requests were sent: told, or those that succeeded and those that failed."""
    if (sent := count(load, "count")) is not None:
        return sent
    return None if completed is None or failed is None else completed + failed


def _condition(load: Document) -> dict[str, Fact]:
    """Return what a report tells; the summary of a sweep mixes rates and tells none."""
    told: dict[str, Fact] = {"requests": count(load, "count")}
    if (rate := number(load, "requested_rate")) is not None:
        told |= {"load": "open", "request_rate": rate}
    return told


TOOL = Tool(NAME, recognises, parse)
