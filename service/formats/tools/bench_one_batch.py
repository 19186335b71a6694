"""Results of sglang.bench_one_batch: one static batch in the model runner, without a server."""

from service.domain.validity import RunFacts
from service.formats.tools.fields import above_zero, is_not_finite, whole
from service.formats.tools.tool import Document, Parsed, Tool

NAME = "sglang.bench_one_batch"

# A static batch has one prefill and equal decode steps: every request of it waits for the same
# first token, and the median step is the median time per token. With one output token there is
# no step, and the tool leaves its two keys out.
_KEYS = {
    "ttft_p50": "prefill_latency",
    "tpot_p50": "median_decode_latency",
    "e2e_p50": "total_latency",
    "input_throughput": "prefill_throughput",
    "total_throughput": "overall_throughput",
}


def recognises(document: Document) -> bool:
    """Return whether an object is a row of this tool."""
    return {"batch_size", "input_len", "output_len", "prefill_latency"} <= document.keys()


def parse(document: Document) -> tuple[Parsed]:
    """Return one row in our words and base units."""
    batch = whole(document, "batch_size")
    parsed = Parsed(
        tool_version=None,
        definition=1,
        condition={
            "load": "batch",
            "concurrency": batch,
            "input_tokens": whole(document, "input_len"),
            "output_tokens": whole(document, "output_len"),
        },
        metrics={
            name: value
            for name, key in _KEYS.items()
            if (value := above_zero(document, key)) is not None
        },
        facts=RunFacts(
            requests_completed=batch,
            requests_asked=batch,
            streamed=False,
            cold=False,
            not_finite=tuple(
                sorted(name for name, key in _KEYS.items() if is_not_finite(document, key))
            ),
        ),
    )
    return (parsed,)


TOOL = Tool(NAME, recognises, parse)
