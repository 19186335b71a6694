"""Results of sglang.bench_one_batch_server: one static batch sent to a server."""

from service.domain.resolution import Fact
from service.domain.validity import RunFacts
from service.formats.tools.fields import above_zero, all_zero, count, measured, number, text, whole
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
    "e2e_p50": ("latency", 1.0),
    "input_throughput": ("input_throughput", 1.0),
    "output_throughput": ("output_throughput", 1.0),
    "total_throughput": ("overall_throughput", 1.0),
    "accept_length": ("acc_length", 1.0),
    "cache_hit": ("cache_hit_rate", 1.0),
}
# What the tool writes where a server does not speculate, which no length can be.
_NO_LENGTH = -1.0


def recognises(document: Document) -> bool:
    """Return whether an object is a row of this tool, or of the nightly run built on it."""
    return {"batch_size", "input_len", "output_len", "latency"} <= document.keys()


def parse(document: Document) -> tuple[Parsed]:
    """Return one row in our words and base units."""
    batch, output = count(document, "batch_size"), count(document, "output_len")
    metrics, not_finite = measured(_without_sentinel(document), _KEYS)
    new = "last_gen_throughput" in document
    parsed = Parsed(
        tool_version=_version(document),
        definition=AFTER_FIRST_TOKEN if new else WHOLE_LATENCY,
        condition=_condition(document),
        metrics=_metrics(document, metrics),
        facts=RunFacts(
            requests_completed=batch,
            requests_asked=batch,
            output_tokens=count(document, "total_output_tokens"),
            output_lengths=None if output is None else (output, output),
            streamed=False,
            not_finite=not_finite,
            all_zero=all_zero(document, _KEYS),
        ),
    )
    return (parsed,)


def _without_sentinel(document: Document) -> Document:
    told = number(document, "acc_length") != _NO_LENGTH
    return document if told else {**document, "acc_length": None}


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


def _metrics(document: Document, found: dict[str, float]) -> dict[str, float]:
    # The tool tells the last first token of the batch; of one request that is the only one.
    first = above_zero(document, "last_ttft")
    if whole(document, "batch_size") == 1 and first is not None:
        found["ttft_p50"] = first
    return found


TOOL = Tool(NAME, recognises, parse)
