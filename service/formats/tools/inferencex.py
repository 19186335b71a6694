"""Results that InferenceX (once InferenceMAX) makes of those of its copy of vLLM's client.

Two shapes, both in seconds without a suffix: the client's own, cut down, and rows of its dashboard.
A row is per card: a single host's throughputs were divided by its tensor parallel degree, and that
is undone here. Of several hosts, or of split prefill and decode, other divisors were used, so
their throughputs are left out. Interactivity is one over TPOT and told by it.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from service.domain.metric import LATENCIES, STATISTICS
from service.domain.resolution import Fact
from service.domain.validity import RunFacts
from service.formats.tools.fields import count, measured, number, text, whole
from service.formats.tools.tool import Document, Parsed, Tool
from service.formats.tools.vllm_serve import model_name, rate_of

NAME = "inferencex"

# The client's numbers as they are, and those of a row with its division undone.
CLIENT = 1
ROW = 2

_SPELLING = MappingProxyType({"p50": "median", "e2e": "e2el"})
_LATENCIES = MappingProxyType(
    {
        f"{latency}_{statistic}": (
            f"{_SPELLING.get(statistic, statistic)}_{_SPELLING.get(latency, latency)}",
            1.0,
        )
        for latency in LATENCIES
        for statistic in STATISTICS
    }
)
_OF_CLIENT = MappingProxyType(
    dict(_LATENCIES)
    | {
        name: (name, 1.0)
        for name in ("request_throughput", "input_throughput", "output_throughput", "duration")
    }
    | {"total_throughput": ("total_token_throughput", 1.0)}
)
_PER_CARD = MappingProxyType(
    {
        "total_throughput": "tput_per_gpu",
        "output_throughput": "output_tput_per_gpu",
        "input_throughput": "input_tput_per_gpu",
    }
)
_CLIENT_MARKS = frozenset(
    {"model_id", "num_prompts", "completed", "duration", "request_throughput"}
)
_ROW_MARKS = frozenset({"hw", "conc", "framework", "precision", "tput_per_gpu"})
_SPLIT = ("is_multinode", "disagg")


def recognises(document: Document) -> bool:
    """Return whether an object is a result of this suite, of either shape."""
    names = document.keys()
    in_seconds = not names.isdisjoint({"median_ttft", "mean_ttft", "median_tpot", "median_e2el"})
    return in_seconds and (names >= _CLIENT_MARKS or names >= _ROW_MARKS)


def parse(document: Document) -> tuple[Parsed]:
    """Return one result in our words and base units."""
    return (_row(document) if document.keys() >= _ROW_MARKS else _client(document),)


def _client(document: Document) -> Parsed:
    metrics, not_finite = measured(document, _OF_CLIENT)
    completed, asked = count(document, "completed"), count(document, "num_prompts")
    concurrency = count(document, "max_concurrency")
    condition: dict[str, Fact] = {
        "requests": asked,
        "request_rate": rate_of(document),
        "concurrency": concurrency,
    }
    return Parsed(
        tool_version=None,
        definition=CLIENT,
        condition=condition | _models(document, model="model_id", tokenizer="tokenizer_id"),
        metrics=metrics,
        facts=replace(
            _facts(document, not_finite),
            requests_completed=completed,
            requests_asked=asked,
            input_tokens=count(document, "total_input_tokens"),
            output_tokens=count(document, "total_output_tokens"),
            # Of a load that failed altogether the duration alone is above zero.
            all_zero=not (metrics.keys() - {"duration"}) and not not_finite,
            concurrency=_in_flight(metrics, completed),
            concurrency_asked=concurrency or None,
            duration_s=number(document, "duration"),
        ),
    )


def _row(document: Document) -> Parsed:
    cards = 0 if any(document.get(name) for name in _SPLIT) else count(document, "tp") or 0
    undone = {name: (key, float(cards)) for name, key in _PER_CARD.items()} if cards else {}
    metrics, not_finite = measured(document, {**_LATENCIES, **undone})
    return Parsed(
        tool_version=None,
        definition=ROW,
        condition=_condition(document),
        metrics=metrics,
        facts=replace(_facts(document, not_finite), all_zero=not metrics and not not_finite),
    )


def _facts(document: Document, not_finite: tuple[str, ...]) -> RunFacts:
    return RunFacts(
        ttft_p50=number(document, "median_ttft"),
        tpot_p50=number(document, "median_tpot"),
        itl_p50=number(document, "median_itl"),
        tpot_mean=number(document, "mean_tpot"),
        itl_mean=number(document, "mean_itl"),
        not_finite=not_finite,
    )


def _in_flight(metrics: Mapping[str, float], completed: int | None) -> float | None:
    """Return the mean number of requests in flight: all their time over that of the load."""
    if completed is None or not {"e2e_mean", "duration"} <= metrics.keys():
        return None
    return metrics["e2e_mean"] * completed / metrics["duration"]


def _condition(document: Document) -> dict[str, Fact]:
    told: dict[str, Fact] = {
        ours: whole(document, theirs)
        for ours, theirs in (
            ("input_tokens", "isl"),
            ("output_tokens", "osl"),
            ("concurrency", "conc"),
            ("tp", "tp"),
            ("ep", "ep"),
        )
        if theirs in document
    }
    for ours, theirs in (
        ("cards", "hw"),
        ("framework", "framework"),
        ("precision", "precision"),
        ("dp_attention", "dp_attention"),
        ("mtp", "mtp"),
        ("spec_decoding", "spec_decoding"),
    ):
        if theirs in document:
            value = document[theirs]
            told[ours] = value if isinstance(value, bool) else text(document, theirs)
    return told | _models(document, model="model", tokenizer="tokenizer")


def _models(document: Document, **keys: str) -> dict[str, Fact]:
    return {name: model_name(path) for name, key in keys.items() if (path := text(document, key))}


TOOL = Tool(NAME, recognises, parse)
