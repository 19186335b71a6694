"""Results of sglang.bench_one_batch_server: one static batch sent to a server."""

from service.domain.resolution import Fact
from service.domain.validity import RunFacts
from service.formats.tools.fields import above_zero, is_not_finite, text, whole
from service.formats.tools.tool import Document, Parsed, Tool

NAME = "sglang.bench_one_batch_server"

# One key, two meanings: until 0.4.5 output_throughput was output tokens over the whole latency;
# since 0.4.6 the time to the first token is taken off. last_gen_throughput came with the change.
WHOLE_LATENCY = 1
AFTER_FIRST_TOKEN = 2

_RELEASES = (
    ("num_early_stopped", ">=0.5.20"),
    ("cache_hit_rate", ">=0.5.8,<0.5.20"),
    ("last_ttft", ">=0.5.6,<0.5.8"),
    ("last_gen_throughput", ">=0.4.6,<0.5.6"),
)
_KEYS = {
    "e2e_p50": "latency",
    "input_throughput": "input_throughput",
    "output_throughput": "output_throughput",
    "total_throughput": "overall_throughput",
    "accept_length": "acc_length",
    "cache_hit": "cache_hit_rate",
}


def recognises(document: Document) -> bool:
    """Return whether an object is a row of this tool, or of the nightly run built on it."""
    return {"batch_size", "input_len", "output_len", "latency"} <= document.keys()


def parse(document: Document) -> tuple[Parsed]:
    """Return one row in our words and base units."""
    batch, output = whole(document, "batch_size"), whole(document, "output_len")
    new = "last_gen_throughput" in document
    parsed = Parsed(
        tool_version=_version(document),
        definition=AFTER_FIRST_TOKEN if new else WHOLE_LATENCY,
        condition=_condition(document),
        metrics=_metrics(document),
        facts=RunFacts(
            requests_completed=batch,
            requests_asked=batch,
            output_tokens=whole(document, "total_output_tokens"),
            output_lengths=None if output is None else (output, output),
            streamed=False,
            not_finite=tuple(
                sorted(name for name, key in _KEYS.items() if is_not_finite(document, key))
            ),
        ),
    )
    return (parsed,)


def _version(document: Document) -> str:
    return next((release for key, release in _RELEASES if key in document), "<0.4.6")


def _condition(document: Document) -> dict[str, Fact]:
    told: dict[str, Fact] = {
        "load": "batch",
        "concurrency": whole(document, "batch_size"),
        "input_tokens": whole(document, "input_len"),
        "output_tokens": whole(document, "output_len"),
    }
    if model := text(document, "model_path"):
        told["model"] = model.rstrip("/").rpartition("/")[2]
    return told


def _metrics(document: Document) -> dict[str, float]:
    found = {
        name: value
        for name, key in _KEYS.items()
        if (value := above_zero(document, key)) is not None
    }
    # The tool tells the last first token of the batch; of one request that is the only one.
    first = above_zero(document, "last_ttft")
    if whole(document, "batch_size") == 1 and first is not None:
        found["ttft_p50"] = first
    return found


TOOL = Tool(NAME, recognises, parse)
