"""Results of vllm bench serve, and of benchmarks/benchmark_serving.py, which it was until 0.10.1.

Keys, releases and formulas were read in the tool's own sources, 0.6.2 to 0.33.0, as published.
"""

from dataclasses import dataclass
from math import isfinite
from types import MappingProxyType

from service.domain.metric import LATENCIES, STATISTICS
from service.domain.resolution import Fact
from service.domain.validity import RunFacts
from service.formats.tools.fields import (
    above_zero,
    count,
    is_not_finite,
    measured,
    number,
    text,
    whole,
)
from service.formats.tools.tool import Document, Parsed, Tool

NAME = "vllm.bench_serve"

# No key is of any release that we know: the definition is not known either.
UNKNOWN = 0
# Output tokens are those of the text that came back, tokenised again by the client.
RETOKENISED = 1
# 0.7.0 took the server's count of output tokens, and the last token for the end of a request, but
# it writes the keys of 0.6.4: a result is of one of the two.
EITHER_OUTPUT = 2
# Output tokens are those that the server counted; input tokens those of the dataset.
COUNTED_BY_SERVER = 3
# 0.20 took the server's count of input tokens as well, and writes the keys of 0.17.
EITHER_INPUT = 4
# 0.30 reads one clock for the first token and the gaps, and no longer takes a chat's last chunk,
# which holds no token, for its end. 0.33 passes over a chat's first chunk, which holds none
# either: TTFT of a chat is later there, and no key tells.
ONE_CLOCK = 5
# The change of 0.7.0 was made on this day, so an older result is not of it.
FIRST_DAY_OF_EITHER_OUTPUT = "20250122"


@dataclass(frozen=True, slots=True)
class Era:
    """Releases that write all of these keys, and what the tool's metrics meant in them."""

    keys: frozenset[str]
    releases: str
    definition: int


# Newest first: the first whose keys are all there is meant. Until 0.9.1 a colon stood in the key.
_ERAS = tuple(
    Era(frozenset(keys.split()), releases, definition)
    for keys, releases, definition in (
        ("queue_times", ">=0.30", ONE_CLOCK),
        ("rtfx", ">=0.17,<0.30", EITHER_INPUT),
        ("failed", ">=0.11.1,<0.17", COUNTED_BY_SERVER),
        ("max_output_tokens_per_s", ">=0.11.0,<0.11.1", COUNTED_BY_SERVER),
        ("endpoint_type request_goodput", ">=0.9.2,<0.11.0", COUNTED_BY_SERVER),
        ("endpoint_type request_goodput:", ">=0.8.0,<0.9.2", COUNTED_BY_SERVER),
        ("request_goodput", ">=0.9.2,<0.10.2", COUNTED_BY_SERVER),
        ("best_of request_goodput:", ">=0.6.4,<0.8.0", EITHER_OUTPUT),
        ("request_goodput:", ">=0.8.0,<0.9.2", COUNTED_BY_SERVER),
        ("use_beam_search", "<0.6.3", RETOKENISED),
        ("best_of", ">=0.6.3,<0.6.4", RETOKENISED),
    )
)

_SPELLING = MappingProxyType({"p50": "median", "e2e": "e2el"})
# Metric to the tool's key and the factor that brings it to the base unit.
KEYS = MappingProxyType(
    {
        f"{latency}_{statistic}": (
            f"{_SPELLING.get(statistic, statistic)}_{_SPELLING.get(latency, latency)}_ms",
            1e-3,
        )
        for latency in LATENCIES
        for statistic in STATISTICS
    }
    | {
        "request_throughput": ("request_throughput", 1.0),
        "input_throughput": ("input_throughput", 1.0),
        "output_throughput": ("output_throughput", 1.0),
        "total_throughput": ("total_token_throughput", 1.0),
        "duration": ("duration", 1.0),
        "accept_length": ("spec_decode_acceptance_length", 1.0),
    }
)
_MARKS = frozenset({"model_id", "num_prompts", "completed", "duration", "request_throughput"})
_SERVERS = frozenset({"backend", "endpoint_type"})
_BETWEEN_TOKENS = ("tpot", "itl")
_THROUGHPUTS = frozenset({"total_token_throughput", "input_throughput"})
_MEASURED_MS = frozenset(key for key, factor in KEYS.values() if factor != 1)


def recognises(document: Document) -> bool:
    """Return whether an object is a result of this tool; a sweep numbers its runs."""
    return is_result(document) and "run_number" not in document


def is_result(document: Document) -> bool:
    """Return whether an object holds the keys that all releases write.

    SGLang's share the names of latencies and have no model_id; those that InferenceX made of this
    tool's are in seconds, without the _ms.
    """
    names = document.keys()
    return (
        names >= _MARKS
        and not names.isdisjoint(_SERVERS)
        and not names.isdisjoint(_THROUGHPUTS)
        and not (_is_generation(document) and names.isdisjoint(_MEASURED_MS))
    )


def parse(document: Document) -> tuple[Parsed]:
    """Return one result in our words and base units."""
    releases, definition = _era(document)
    metrics, facts = read(document, retokenised=definition == RETOKENISED)
    parsed = Parsed(
        tool_version=releases,
        definition=definition,
        condition=_condition(document),
        metrics=metrics,
        facts=facts,
    )
    return (parsed,)


def read(document: Document, *, retokenised: bool = False) -> tuple[dict[str, float], RunFacts]:
    """Return the metrics that the tool's keys tell, in base units, and what they tell the gates.

    retokenised: whether the output tokens are those of the text that came back.
    """
    metrics, not_finite = measured(document, KEYS)
    completed, output = count(document, "completed"), count(document, "total_output_tokens")
    asked = count(document, "max_concurrency")
    facts = RunFacts(
        requests_completed=completed,
        requests_asked=_asked(document, completed),
        input_tokens=count(document, "total_input_tokens"),
        output_tokens=output,
        streamed=_is_generation(document),
        itl_per_token=_one_token_a_gap(document),
        retokenised=output if retokenised else _text_missing(document),
        ttft_p50=_seconds(document, "ttft_p50"),
        tpot_p50=_seconds(document, "tpot_p50"),
        itl_p50=_seconds(document, "itl_p50"),
        tpot_mean=_seconds(document, "tpot_mean"),
        itl_mean=_seconds(document, "itl_mean"),
        not_finite=not_finite,
        # Of a load that failed altogether the duration alone is above zero.
        all_zero=not (metrics.keys() - {"duration"}) and not not_finite,
        concurrency=_in_flight(document),
        concurrency_asked=asked or None,
        duration_s=number(document, "duration"),
    )
    if facts.one_token_each:
        metrics = {
            name: each for name, each in metrics.items() if not name.startswith(_BETWEEN_TOKENS)
        }
    return metrics, facts


def model_name(path: str) -> str:
    """Return the name of a model's folder: where it lies says nothing of its speed."""
    return path.rstrip("/").rpartition("/")[2]


def rate_of(document: Document) -> Fact:
    """Return the request rate: requests per second, or inf for all at once."""
    if is_not_finite(document, "request_rate"):
        return "inf"
    rate = number(document, "request_rate")
    return rate if rate is not None else text(document, "request_rate")


def _era(document: Document) -> tuple[str | None, int]:
    if not _is_generation(document):
        # Results of embeddings tell next to nothing of their release.
        newest = "queue_times" in document
        return (">=0.30", ONE_CLOCK) if newest else (None, COUNTED_BY_SERVER)
    names = document.keys()
    era = next((each for each in _ERAS if each.keys <= names), None)
    if era is None:
        return None, UNKNOWN
    day = text(document, "date") or ""
    if era.definition == EITHER_OUTPUT and day < FIRST_DAY_OF_EITHER_OUTPUT:
        return ">=0.6.4,<0.7.0", RETOKENISED
    return era.releases, era.definition


def _is_generation(document: Document) -> bool:
    """Return whether tokens were generated: of embeddings there are only whole requests."""
    return "total_output_tokens" in document


def _condition(document: Document) -> dict[str, Fact]:
    told: dict[str, Fact] = {
        "backend": text(document, "backend") or text(document, "endpoint_type"),
        "requests": whole(document, "num_prompts"),
        "request_rate": rate_of(document),
    }
    for name, key in (("model", "model_id"), ("tokenizer", "tokenizer_id")):
        if path := text(document, key):
            told[name] = model_name(path)
    if "max_concurrency" in document:
        told["concurrency"] = whole(document, "max_concurrency")
    for key in ("burstiness", "ramp_up_start_rps", "ramp_up_end_rps"):
        if (value := number(document, key)) is not None:
            told[key] = value
    if strategy := text(document, "ramp_up_strategy"):
        told["ramp_up_strategy"] = strategy
    return told


def _asked(document: Document, completed: int | None) -> int | None:
    """Return how many requests were sent: since 0.11.1 told, before that as many as asked for."""
    failed = count(document, "failed")
    if failed is not None and completed is not None:
        return completed + failed
    return count(document, "num_prompts")


def _one_token_a_gap(document: Document) -> bool:
    accepted = number(document, "spec_decode_acceptance_length")
    return (accepted is None or accepted <= 1) and "diffusion_committed_tokens" not in document


def _text_missing(document: Document) -> int | None:
    """Return 0 where the details tell that no request brought any text, else nothing."""
    texts = document.get("generated_texts")
    return 0 if isinstance(texts, list) and texts and not any(texts) else None


def _seconds(document: Document, metric: str) -> float | None:
    key, factor = KEYS[metric]
    value = number(document, key)
    return None if value is None else value * factor


def _in_flight(document: Document) -> float | None:
    """Return the mean number of requests in flight: all their time over that of the load."""
    duration = above_zero(document, "duration")
    if duration is None:
        return None
    latencies = document.get("latencies")
    if isinstance(latencies, list) and latencies:
        seconds = [each for each in latencies if isinstance(each, float) and isfinite(each)]
        return sum(seconds) / duration if len(seconds) == len(latencies) else None
    mean, completed = _seconds(document, "e2e_mean"), count(document, "completed")
    return None if mean is None or completed is None else mean * completed / duration


TOOL = Tool(NAME, recognises, parse)
