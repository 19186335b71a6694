"""Results of vllm bench sweep: those of vllm bench serve, with what was varied written into them.

A sweep's summary is a list of the same objects, and each is one result. A run that gave none
leaves an object of its own, since 0.32, which is read as a run where every request failed.
"""

import json
import re
from dataclasses import replace
from itertools import islice
from math import isfinite
from types import MappingProxyType

from service.domain.redaction import redacted
from service.domain.resolution import Fact
from service.domain.validity import RunFacts
from service.formats.tools import vllm_serve
from service.formats.tools.fields import section, text, whole, writable
from service.formats.tools.tool import Document, Parsed, Tool

NAME = "vllm.bench_sweep"

WARM_UP = -1
MOST_VARIED = 100
MOST_CHARACTERS = 200

_FAILURE = frozenset({"run_number", "error_type", "serve_overrides", "bench_overrides"})
# What is varied to our word for it; anything else keeps its own name.
_WORDS = MappingProxyType(
    {
        "input_len": "input_tokens",
        "random_input_len": "input_tokens",
        "output_len": "output_tokens",
        "random_output_len": "output_tokens",
        "random_range_ratio": "range_ratio",
        "dataset_name": "dataset",
        "num_prompts": "requests",
        "max_concurrency": "concurrency",
        "tensor_parallel_size": "tp",
        "pipeline_parallel_size": "pp",
        "data_parallel_size": "dp",
        "kv_cache_dtype": "kv_dtype",
    }
)
# Keys of a result that tell what it measured, or that vllm_serve has read already.
_OF_A_RESULT = frozenset(
    [
        "date",
        "backend",
        "endpoint_type",
        "label",
        "model_id",
        "tokenizer_id",
        "best_of",
        "use_beam_search",
        "num_prompts",
        "request_rate",
        "burstiness",
        "max_concurrency",
        "ramp_up_strategy",
        "ramp_up_start_rps",
        "ramp_up_end_rps",
        "rps_change_events",
        "duration",
        "completed",
        "failed",
        "total_input_tokens",
        "total_output_tokens",
        "total_input_sequences",
        "request_throughput",
        "request_goodput",
        "request_goodput:",
        "input_throughput",
        "output_throughput",
        "total_token_throughput",
        "input_sequence_throughput",
        "input_lens",
        "output_lens",
        "ttfts",
        "itls",
        "latencies",
        "start_times",
        "queue_times",
        "server_queue_times",
        "server_ttfts",
        "generated_texts",
        "errors",
        "max_output_tokens_per_s",
        "max_concurrent_requests",
        "rtfx",
        "run_number",
    ]
)
_MEASURED = re.compile(r"(mean|median|std|p\d+(\.\d+)?)_\w+_ms|(spec_decode|diffusion|probe)_\w+")


def recognises(document: Document) -> bool:
    """Return whether an object is one run of a sweep, or what a failed one left."""
    names = document.keys()
    return "run_number" in names and (names >= _FAILURE or vllm_serve.is_result(document))


def parse(document: Document) -> tuple[Parsed]:
    """Return one run in our words and base units.

    A warm-up is told from the runs by its condition, so it is never taken for one of them.
    """
    parsed = _failed(document) if document.keys() >= _FAILURE else _run(document)
    if whole(document, "run_number") != WARM_UP:
        return (parsed,)
    return (replace(parsed, condition=dict(parsed.condition) | {"warm_up": True}),)


def _run(document: Document) -> Parsed:
    (parsed,) = vllm_serve.parse(document)
    varied = {
        name: value
        for name, value in document.items()
        if name.replace("-", "_") not in _OF_A_RESULT and not _MEASURED.fullmatch(name)
    }
    return replace(parsed, condition=dict(parsed.condition) | _told(varied))


def _failed(document: Document) -> Parsed:
    varied = {**section(document, "serve_overrides"), **section(document, "bench_overrides")}
    condition = _told(varied)
    if error := text(document, "error_type"):
        condition["error"] = error[:MOST_CHARACTERS]
    return Parsed(
        tool_version=">=0.32",
        definition=vllm_serve.ONE_CLOCK,
        condition=condition,
        metrics={},
        facts=RunFacts(requests_completed=0, requests_asked=whole(varied, "num_prompts")),
    )


def _told(varied: Document) -> dict[str, Fact]:
    """Return what was varied as facts of the condition, without the name of the combination."""
    found: dict[str, Fact] = {}
    for key in islice(varied, MOST_VARIED):
        name = writable(key).replace("-", "_")[:MOST_CHARACTERS]
        if name and not name.startswith("_"):
            found[_WORDS.get(name, name)] = _fact(name, varied[key])
    return found


def _fact(name: str, value: object) -> Fact:
    """Return a value as a fact: nested ones as JSON text, secrets as a word in their place."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float) and isfinite(value):
        return value
    told = redacted({name: value if isinstance(value, str) else _json(value)})[name]
    return writable(str(told))[:MOST_CHARACTERS]


def _json(value: object) -> str:
    try:
        return json.dumps(value, sort_keys=True)
    except RecursionError:
        return "nested beyond reason"


TOOL = Tool(NAME, recognises, parse)
