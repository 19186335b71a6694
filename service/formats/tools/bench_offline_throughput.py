"""Results of sglang.bench_offline_throughput: an engine in the tool's own process."""

from service.domain.validity import RunFacts
from service.formats.tools.fields import above_zero, is_not_finite, text, whole
from service.formats.tools.tool import Document, Parsed, Tool

NAME = "sglang.bench_offline_throughput"

_KEYS = {
    "request_throughput": "request_throughput",
    "input_throughput": "input_throughput",
    "output_throughput": "output_throughput",
    "total_throughput": "total_throughput",
    "duration": "total_latency",
}


def recognises(document: Document) -> bool:
    """Return whether an object is a result of this tool."""
    return {"successful_requests", "total_latency", "total_output_tokens"} <= document.keys()


def parse(document: Document) -> tuple[Parsed]:
    """Return one result in our words and base units.

    The tool writes the number of requests as successful even when some failed, so how many
    completed is not known from it.
    """
    parsed = Parsed(
        tool_version=">=0.4.3" if "last_gen_throughput" in document else "<0.4.3",
        definition=1,
        condition={
            "backend": text(document, "backend"),
            "requests": whole(document, "successful_requests"),
            "input_tokens_in_all": whole(document, "total_input_tokens"),
        },
        metrics={
            name: value
            for name, key in _KEYS.items()
            if (value := above_zero(document, key)) is not None
        },
        facts=RunFacts(
            requests_asked=whole(document, "successful_requests"),
            input_tokens=whole(document, "total_input_tokens"),
            output_tokens=whole(document, "total_output_tokens"),
            streamed=False,
            not_finite=tuple(
                sorted(name for name, key in _KEYS.items() if is_not_finite(document, key))
            ),
            duration_s=above_zero(document, "total_latency"),
        ),
    )
    return (parsed,)


TOOL = Tool(NAME, recognises, parse)
