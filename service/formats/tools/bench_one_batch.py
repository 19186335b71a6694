"""Results of sglang.bench_one_batch: one static batch in the model runner, without a server."""

from service.domain.validity import RunFacts
from service.formats.tools.fields import all_zero, count, measured, whole
from service.formats.tools.tool import Document, Parsed, Tool

NAME = "sglang.bench_one_batch"

# A static batch has one prefill and equal decode steps: every request of it waits for the same
# first token, and the median step is the median time per token. With one output token there is
# no step, and the tool leaves its two keys out.
_KEYS = {
    "ttft_p50": ("prefill_latency", 1.0),
    "tpot_p50": ("median_decode_latency", 1.0),
    "e2e_p50": ("total_latency", 1.0),
    "input_throughput": ("prefill_throughput", 1.0),
    "total_throughput": ("overall_throughput", 1.0),
}


def recognises(document: Document) -> bool:
    """Return whether an object is a row of this tool."""
    return {"batch_size", "input_len", "output_len", "prefill_latency"} <= document.keys()


def parse(document: Document) -> tuple[Parsed]:
    """Return one row in our words and base units."""
    batch = count(document, "batch_size")
    metrics, not_finite = measured(document, _KEYS)
    parsed = Parsed(
        tool_version=None,
        definition=1,
        condition={
            "load": "batch",
            "concurrency": batch,
            "input_tokens": whole(document, "input_len"),
            "output_tokens": whole(document, "output_len"),
        },
        metrics=metrics,
        facts=RunFacts(
            requests_completed=batch,
            requests_asked=batch,
            streamed=False,
            cold=False,
            not_finite=not_finite,
            all_zero=all_zero(document, _KEYS),
        ),
    )
    return (parsed,)


TOOL = Tool(NAME, recognises, parse)
