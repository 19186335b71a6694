"""Results of llmperf: the summary of one run; all times in seconds.

Its inter-token latency is a request's time over its tokens, the first one included, so it is
neither our TPOT nor our ITL and is left out. Its output throughput is over the whole run.
"""

from types import MappingProxyType

from service.domain.metric import STATISTICS
from service.domain.resolution import Fact
from service.domain.validity import RunFacts
from service.formats.tools.fields import count, measured, number, text
from service.formats.tools.tool import Document, Parsed, Tool
from service.formats.tools.vllm_serve import model_name

NAME = "llmperf"

SECONDS_A_MINUTE = 60

_LATENCIES = MappingProxyType({"ttft": "ttft_s", "e2e": "end_to_end_latency_s"})
_KEYS = MappingProxyType(
    {
        f"{latency}_{statistic}": (
            f"results_{theirs}_mean"
            if statistic == "mean"
            else f"results_{theirs}_quantiles_{statistic}",
            1.0,
        )
        for latency, theirs in _LATENCIES.items()
        for statistic in STATISTICS
    }
    | {
        "output_throughput": ("results_mean_output_throughput_token_per_s", 1.0),
        "request_throughput": ("results_num_completed_requests_per_min", 1 / SECONDS_A_MINUTE),
    }
)
_LENGTHS = MappingProxyType(
    {
        "input_tokens": "mean_input_tokens",
        "input_tokens_stdev": "stddev_input_tokens",
        "output_tokens": "mean_output_tokens",
        "output_tokens_stdev": "stddev_output_tokens",
    }
)


def recognises(document: Document) -> bool:
    """Return whether an object is a summary of this tool."""
    return {"num_concurrent_requests", "results_num_requests_started"} <= document.keys()


def parse(document: Document) -> tuple[Parsed]:
    """Return one summary in our words and base units."""
    metrics, not_finite = measured(document, _KEYS)
    parsed = Parsed(
        tool_version=None,
        definition=1,
        condition=_condition(document),
        metrics=metrics,
        facts=RunFacts(
            requests_completed=_completed(document),
            requests_asked=count(document, "results_num_requests_started"),
            ttft_p50=number(document, "results_ttft_s_quantiles_p50"),
            not_finite=not_finite,
            all_zero=not metrics and not not_finite,
        ),
    )
    return (parsed,)


def _completed(document: Document) -> int | None:
    """Return how many requests succeeded; some releases count those that failed among them."""
    completed = count(document, "results_num_completed_requests")
    started, failed = (
        count(document, f"results_{name}") for name in ("num_requests_started", "number_errors")
    )
    if completed is None or started is None or failed is None:
        return completed
    return min(completed, started - failed)


def _condition(document: Document) -> dict[str, Fact]:
    told: dict[str, Fact] = {
        "load": "closed",
        "concurrency": count(document, "num_concurrent_requests"),
        "requests": count(document, "results_num_requests_started"),
    }
    for ours, theirs in _LENGTHS.items():
        if (length := number(document, theirs)) is not None:
            told[ours] = length
    if model := text(document, "model"):
        told["model"] = model_name(model)
    return told


TOOL = Tool(NAME, recognises, parse)
