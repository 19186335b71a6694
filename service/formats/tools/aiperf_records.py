"""Results of aiperf out of its records: one line a request, which together are one result.

Latencies are taken as the tool takes them for its own summary: over the requests that succeeded,
percentiles interpolated linearly. Its throughput is over the whole phase, whose ends the records do
not tell; here it is over the time from the first request to the last answer, a definition of its
own. Gaps between chunks are left out: all of a long run do not fit into memory.
"""

import json
import re
from array import array
from collections.abc import Iterable, Iterator, MutableSequence, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from service.domain.validity import RunFacts
from service.formats.tools.aiperf import LATENCIES, NAME, TIME
from service.formats.tools.fields import number, section, text, whole
from service.formats.tools.problem_codes import ProblemCode
from service.formats.tools.tool import Document, Found, Parsed, Problem, TextTool

# A revision of its own beside those of the summary, for the throughputs.
RECORDS = 3

_HEAD = re.compile(r'\s*\{\s*"metadata"\s*:\s*\{')
_PHASE = '"benchmark_phase"'
_HEAD_CHARACTERS = 4096
_KEPT = ("ttft", "tpot", "e2e")
_QUANTILES = MappingProxyType({"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99})
_MEASURED = "profiling"
_NS = 1e-9
SHOWN = 60
# What a time in a unit that is not known is read as.
_UNKNOWN = -1.0


@dataclass(slots=True)
class _Sums:
    """What is kept of the lines so far; latencies in seconds, times in nanoseconds."""

    succeeded: int = 0
    failed: int = 0
    cancelled: int = 0
    input_tokens: int = 0
    counted: int = 0
    by_server: int = 0
    without_server_count: int = 0
    begin_ns: float = float("inf")
    end_ns: float = float("-inf")
    latencies: dict[str, MutableSequence[float]] = field(
        default_factory=lambda: {name: array("d") for name in _KEPT}
    )

    @property
    def duration_s(self) -> float | None:
        """From the first request to the last answer."""
        seconds = (self.end_ns - self.begin_ns) * _NS
        return seconds if 0 < seconds < float("inf") else None


def recognises(lines: Sequence[str]) -> bool:
    """Return whether a file begins with one request's record."""
    head = "".join(lines[:1])[:_HEAD_CHARACTERS]
    return _HEAD.match(head) is not None and _PHASE in head


def parse(lines: Iterable[str]) -> Iterator[Found[Parsed] | Problem]:
    """Yield what is wrong with single lines, and at the end the one result of all others."""
    sums = _Sums()
    for line, written in enumerate(lines, start=1):
        if not written.strip():
            continue
        try:
            record = json.loads(written)
        except (ValueError, RecursionError):
            yield Problem(line, ProblemCode.TRUNCATED, f"not a whole record: {written[:SHOWN]!r}")
            continue
        problem = _add(sums, record, line)
        if problem is not None:
            yield problem
    if sums.succeeded or sums.failed or sums.cancelled:
        yield Found(1, _parsed(sums))
    else:
        yield Problem(None, ProblemCode.NO_RESULTS, "no record of a request that was measured")


def _add(sums: _Sums, record: object, line: int) -> Problem | None:
    if not isinstance(record, dict) or "metadata" not in record:
        return Problem(line, ProblemCode.NOT_A_RESULT, "not the record of a request")
    metadata, metrics = section(record, "metadata"), section(record, "metrics")
    if text(metadata, "benchmark_phase") != _MEASURED:
        return None
    if metadata.get("was_cancelled") is True:
        sums.cancelled += 1
        return None
    if record.get("error") is not None:
        sums.failed += 1
        return None
    seconds = {name: _seconds(metrics, LATENCIES[name]) for name in _KEPT}
    if (wrong := [name for name, value in seconds.items() if value == _UNKNOWN]) != []:
        return Problem(line, ProblemCode.UNKNOWN_UNIT, f"a unit that is not known: {wrong}")
    sums.succeeded += 1
    for name, value in seconds.items():
        if value is not None:
            sums.latencies[name].append(value)
    _count(sums, metadata, metrics, latency_s=seconds["e2e"])
    return None


def _seconds(metrics: Document, name: str) -> float | None:
    told = section(metrics, name)
    value = number(told, "value")
    if value is None:
        return None
    factor = TIME.get((text(told, "unit") or "").casefold())
    return _UNKNOWN if factor is None else value * factor


def _count(sums: _Sums, metadata: Document, metrics: Document, *, latency_s: float | None) -> None:
    begin = number(metadata, "request_start_ns")
    if begin is not None and latency_s is not None:
        sums.begin_ns = min(sums.begin_ns, begin)
        sums.end_ns = max(sums.end_ns, begin + latency_s / _NS)
    sums.input_tokens += _tokens(metrics, "input_sequence_length") or 0
    sums.counted += _tokens(metrics, "output_sequence_length") or 0
    by_server = _tokens(metrics, "usage_completion_tokens")
    sums.by_server += by_server or 0
    sums.without_server_count += by_server is None


def _tokens(metrics: Document, name: str) -> int | None:
    return whole(section(metrics, name), "value")


def _parsed(sums: _Sums) -> Parsed:
    return Parsed(
        tool_version=None,
        definition=RECORDS,
        condition={"requests": sums.succeeded + sums.failed + sums.cancelled},
        metrics=_metrics(sums),
        facts=_facts(sums),
    )


def _metrics(sums: _Sums) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, values in sums.latencies.items():
        found |= _statistics(name, values)
    if (duration := sums.duration_s) is not None:
        found["duration"] = duration
        found["request_throughput"] = sums.succeeded / duration
        found["input_throughput"] = sums.input_tokens / duration
        found["output_throughput"] = sums.counted / duration
        found["total_throughput"] = (sums.input_tokens + sums.counted) / duration
        found["concurrency"] = sum(sums.latencies["e2e"]) / duration
    return {name: value for name, value in found.items() if value > 0}


def _statistics(name: str, values: Sequence[float]) -> dict[str, float]:
    if not values:
        return {}
    ordered = sorted(values)
    return {f"{name}_mean": sum(ordered) / len(ordered)} | {
        f"{name}_{statistic}": _quantile(ordered, share) for statistic, share in _QUANTILES.items()
    }


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Return a quantile of sorted values, interpolated linearly."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def _facts(sums: _Sums) -> RunFacts:
    told_by_server = sums.succeeded > 0 and sums.without_server_count == 0
    medians = {
        name: _quantile(sorted(values), 0.5) for name, values in sums.latencies.items() if values
    }
    return RunFacts(
        requests_completed=sums.succeeded,
        # What never was sent has no line: it is only known that some failed.
        requests_asked=_asked(sums),
        input_tokens=sums.input_tokens,
        output_tokens=sums.by_server if told_by_server else sums.counted,
        streamed=bool(sums.latencies["ttft"]) or sums.succeeded == 0,
        itl_per_token=False,
        retokenised=sums.counted,
        ttft_p50=medians.get("ttft"),
        tpot_p50=medians.get("tpot"),
        duration_s=sums.duration_s,
    )


def _asked(sums: _Sums) -> int | None:
    """Return how many requests should have completed, where failures tell that not all did.

    A request may be cancelled because the time asked for was over, which no record tells.
    """
    return sums.succeeded + sums.failed + sums.cancelled if sums.failed else None


TEXT_TOOL = TextTool(NAME, recognises, parse)
