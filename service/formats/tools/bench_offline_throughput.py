"""Results of sglang.bench_offline_throughput: an engine in the tool's own process."""

from service.domain.validity import RunFacts
from service.formats.tools.fields import above_zero, all_zero, count, measured, text, whole
from service.formats.tools.tool import Document, Parsed, Tool

NAME = "sglang.bench_offline_throughput"

_KEYS = {
    "request_throughput": ("request_throughput", 1.0),
    "input_throughput": ("input_throughput", 1.0),
    "output_throughput": ("output_throughput", 1.0),
    "total_throughput": ("total_throughput", 1.0),
    "duration": ("total_latency", 1.0),
}


def recognises(document: Document) -> bool:
    """Return whether an object is a result of this tool."""
    return {"successful_requests", "total_latency", "total_output_tokens"} <= document.keys()


def parse(document: Document) -> tuple[Parsed]:
    """Return one result in our words and base units.

    The tool writes the number of requests as successful even when some failed, so how many
    completed is not known from it.
    """
    metrics, not_finite = measured(document, _KEYS)
    parsed = Parsed(
        tool_version=">=0.4.3" if "last_gen_throughput" in document else "<0.4.3",
        definition=1,
        condition={
            "backend": text(document, "backend"),
            "requests": whole(document, "successful_requests"),
            "input_tokens_in_all": whole(document, "total_input_tokens"),
        },
        metrics=metrics,
        facts=RunFacts(
            requests_asked=count(document, "successful_requests"),
            input_tokens=count(document, "total_input_tokens"),
            output_tokens=count(document, "total_output_tokens"),
            streamed=False,
            not_finite=not_finite,
            all_zero=all_zero(document, _KEYS),
            duration_s=above_zero(document, "total_latency"),
        ),
    )
    return (parsed,)


TOOL = Tool(NAME, recognises, parse)
