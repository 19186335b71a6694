"""Results of vllm bench latency, and of benchmark_latency.py: one batch, again and again.

A latency is that of the whole batch from the engine's call to its return, in seconds. The tool
keeps neither the batch's size nor its lengths.
"""

from math import isfinite
from types import MappingProxyType

from service.domain.validity import RunFacts
from service.formats.tools.fields import measured, section
from service.formats.tools.tool import Document, Parsed, Tool

NAME = "vllm.bench_latency"

_MEAN = MappingProxyType({"e2e_mean": ("avg_latency", 1.0)})
_PERCENTILES = MappingProxyType(
    {"e2e_p50": ("50", 1.0), "e2e_p90": ("90", 1.0), "e2e_p99": ("99", 1.0)}
)


def recognises(document: Document) -> bool:
    """Return whether an object is a result of this tool."""
    return {"avg_latency", "percentiles"} <= document.keys()


def parse(document: Document) -> tuple[Parsed]:
    """Return one result in our words and base units."""
    mean, mean_not_finite = measured(document, _MEAN)
    percentiles, others_not_finite = measured(section(document, "percentiles"), _PERCENTILES)
    not_finite = mean_not_finite + others_not_finite
    metrics = mean | percentiles
    parsed = Parsed(
        tool_version=">0.33" if "std_latency" in document else None,
        definition=1,
        condition={"load": "batch"},
        metrics=metrics,
        facts=RunFacts(
            streamed=False,
            not_finite=not_finite,
            all_zero=not metrics and not not_finite,
            duration_s=_duration(document),
        ),
    )
    return (parsed,)


def _duration(document: Document) -> float | None:
    """Return the seconds of all iterations after the warm-up; some results keep no list of them."""
    latencies = document.get("latencies")
    if not isinstance(latencies, list) or not latencies:
        return None
    seconds = [each for each in latencies if isinstance(each, float) and isfinite(each)]
    return sum(seconds) if len(seconds) == len(latencies) else None


TOOL = Tool(NAME, recognises, parse)
