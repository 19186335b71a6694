"""Results of vllm bench throughput, and of benchmark_throughput.py: one engine, no server.

The tool keeps no lengths, and until 0.31 no model: they are in the file's name at best, and a name
is no witness. It asks all answers to go past the end mark, so it counts alike whether it adds up
what was asked for or, since 0.7, what was generated.
"""

from types import MappingProxyType

from service.domain.resolution import Fact
from service.domain.validity import RunFacts
from service.formats.tools.fields import count, measured, number, text, whole
from service.formats.tools.tool import Document, Parsed, Tool
from service.formats.tools.vllm_serve import model_name

NAME = "vllm.bench_throughput"

# Tokens are input and output together.
_KEYS = MappingProxyType(
    {
        "request_throughput": ("requests_per_second", 1.0),
        "total_throughput": ("tokens_per_second", 1.0),
        "duration": ("elapsed_time", 1.0),
    }
)
_MARKS = frozenset(
    {"elapsed_time", "num_requests", "total_num_tokens", "requests_per_second", "tokens_per_second"}
)


def recognises(document: Document) -> bool:
    """Return whether an object is a result of this tool."""
    return document.keys() >= _MARKS


def parse(document: Document) -> tuple[Parsed]:
    """Return one result in our words and base units."""
    requests = count(document, "num_requests")
    metrics, not_finite = measured(document, _KEYS)
    parsed = Parsed(
        tool_version=">=0.32" if "model_id" in document else "<0.32",
        definition=1,
        condition=_condition(document, requests),
        metrics=metrics,
        facts=RunFacts(
            # The engine is called once with all requests, and the tool ends with it if it fails.
            requests_completed=requests,
            requests_asked=requests,
            streamed=False,
            not_finite=not_finite,
            all_zero=not (metrics.keys() - {"duration"}) and not not_finite,
            duration_s=number(document, "elapsed_time"),
        ),
    )
    return (parsed,)


def _condition(document: Document, requests: int | None) -> dict[str, Fact]:
    told: dict[str, Fact] = {"load": "batch", "requests": requests}
    if model := text(document, "model_id"):
        told["model"] = model_name(model)
    # Some copies of the script write the lengths, and one of them misspells its key.
    for name, keys in (("input_tokens", ("input",)), ("output_tokens", ("output", "ouput"))):
        lengths = (whole(document, key) for key in keys)
        if (length := next((each for each in lengths if each is not None), None)) is not None:
            told[name] = length
    return told


TOOL = Tool(NAME, recognises, parse)
