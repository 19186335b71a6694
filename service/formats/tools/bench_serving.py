"""Results of sglang.bench_serving, from 0.3.6 to 0.5.23: no key was ever renamed, only added."""

from types import MappingProxyType

from service.domain.metric import LATENCIES, STATISTICS
from service.domain.resolution import Fact, Resolution
from service.domain.validity import RunFacts
from service.formats.tools.fields import (
    above_zero,
    all_zero,
    count,
    is_not_finite,
    measured,
    number,
    section,
    text,
    whole,
)
from service.formats.tools.server_info import condition_told, resolution_of
from service.formats.tools.tool import Document, Parsed, Tool

NAME = "sglang.bench_serving"

# The first release that wrote a key, newest first, and the release its next key came with.
_RELEASES = (
    ("p90_ttft_ms", "0.5.14", None),
    ("p90_e2e_latency_ms", "0.5.8", "0.5.14"),
    ("max_output_tokens_per_s", "0.5.6", "0.5.8"),
    ("total_throughput", "0.5.5.post1", "0.5.6"),
    ("server_info", "0.5.5", "0.5.6"),
    ("total_input_text_tokens", "0.5.3.post1", "0.5.5"),
    ("accept_length", "0.4.3", "0.5.3.post1"),
    ("std_e2e_latency_ms", "0.4.1", "0.4.3"),
    ("median_e2e_latency_ms", "0.3.6", "0.4.1"),
)

# What a number means changed with the release, under the same keys: until 0.4.1 a gap between
# tokens was one between chunks; since 0.5.5 the duration, and with it every throughput, counts the
# request for the server's information at the end; since 0.5.12 the first token may be one of
# reasoning. Each is known by the first key that came with it or after it.
_DEFINITIONS = (("p90_ttft_ms", 4), ("server_info", 3), ("concurrency", 2))

_SPELLING = MappingProxyType({"p50": "median", "e2e": "e2e_latency"})
_AS_NAMED = (
    "request_throughput",
    "input_throughput",
    "output_throughput",
    "total_throughput",
    "duration",
    "concurrency",
    "accept_length",
)
# Metric to the tool's key and the factor that brings it to the base unit.
_KEYS = MappingProxyType(
    {
        f"{latency}_{statistic}": (
            f"{_SPELLING.get(statistic, statistic)}_{_SPELLING.get(latency, latency)}_ms",
            1e-3,
        )
        for latency in LATENCIES
        for statistic in STATISTICS
    }
    | {name: (name, 1.0) for name in _AS_NAMED}
)
_BETWEEN_TOKENS = ("tpot", "itl")
# Datasets whose lengths are drawn from random_input_len and random_output_len.
_RANDOM_LENGTHS = frozenset({"random", "random-ids"})


def recognises(document: Document) -> bool:
    """Return whether an object is a result of this tool; vLLM's have a model_id and no dataset."""
    names = document.keys()
    return (
        {"backend", "dataset_name"} <= names
        and "model_id" not in names
        and not names.isdisjoint(
            {"median_ttft_ms", "median_e2e_latency_ms", "total_output_tokens_retokenized"}
        )
    )


def parse(document: Document) -> tuple[Parsed]:
    """Return one line of a result file in our words and base units."""
    server_info = section(document, "server_info")
    metrics, not_finite = measured(document, _KEYS)
    resolution = resolution_of(server_info)
    facts = _facts(document, not_finite, resolution)
    parsed = Parsed(
        tool_version=_version(document),
        definition=_definition(document),
        condition=_condition(document) | condition_told(server_info),
        metrics=_metrics(metrics, facts),
        facts=facts,
        resolution=resolution,
    )
    return (parsed,)


def _version(document: Document) -> str | None:
    for key, first, following in _RELEASES:
        if key in document:
            return f">={first},<{following}" if following else f">={first}"
    return None


def _definition(document: Document) -> int:
    return next((definition for key, definition in _DEFINITIONS if key in document), 1)


def _metrics(found: dict[str, float], facts: RunFacts) -> dict[str, float]:
    if facts.one_token_each:
        found = {
            name: value for name, value in found.items() if not name.startswith(_BETWEEN_TOKENS)
        }
    if facts.cache_hit:
        found["cache_hit"] = facts.cache_hit
    if facts.kv_capacity:
        found["kv_capacity"] = float(facts.kv_capacity)
    return found


def _condition(document: Document) -> dict[str, Fact]:
    told: dict[str, Fact] = {
        "backend": text(document, "backend"),
        "dataset": text(document, "dataset_name"),
    }
    if "request_rate" in document:
        told["request_rate"] = _rate(document)
    if "max_concurrency" in document:
        told["concurrency"] = whole(document, "max_concurrency")
    if (asked := _asked(document)) is not None:
        told["requests"] = asked
    return told | _lengths(document)


def _lengths(document: Document) -> dict[str, Fact]:
    if text(document, "dataset_name") in _RANDOM_LENGTHS:
        return {
            "input_tokens": whole(document, "random_input_len"),
            "output_tokens": whole(document, "random_output_len"),
            "range_ratio": number(document, "random_range_ratio"),
        }
    if (output := whole(document, "sharegpt_output_len")) is not None:
        return {"output_tokens": output}
    return {}


def _rate(document: Document) -> Fact:
    if is_not_finite(document, "request_rate"):
        return "inf"
    rate = number(document, "request_rate")
    return rate if rate is not None else text(document, "request_rate")


def _facts(document: Document, not_finite: tuple[str, ...], resolution: Resolution) -> RunFacts:
    server_info = section(document, "server_info")
    return RunFacts(
        requests_completed=count(document, "completed"),
        requests_asked=_asked(document),
        input_tokens=count(document, "total_input_tokens"),
        input_lengths=_bounds(document, "random_input_len"),
        output_tokens=count(document, "total_output_tokens"),
        output_lengths=_bounds(document, "random_output_len"),
        itl_per_token=_one_token_a_gap(document),
        retokenised=count(document, "total_output_tokens_retokenized"),
        ttft_p50=_milliseconds(document, "median_ttft_ms"),
        tpot_p50=_milliseconds(document, "median_tpot_ms"),
        itl_p50=_milliseconds(document, "median_itl_ms"),
        tpot_mean=_milliseconds(document, "mean_tpot_ms"),
        itl_mean=_milliseconds(document, "mean_itl_ms"),
        not_finite=not_finite,
        all_zero=all_zero(document, _KEYS),
        cold=False if server_info.get("disable_radix_cache") is True else None,
        cache_hit=_cache_hit(document),
        concurrency=_in_flight(document),
        concurrency_asked=whole(document, "max_concurrency"),
        duration_s=number(document, "duration"),
        kv_capacity=count(resolution.facts, "max_total_num_tokens"),
        kv_needed=_tokens_in_flight(document),
    )


def _tokens_in_flight(document: Document) -> int | None:
    """Return the tokens that all requests in flight hold at their longest, where they are bounded.

    Of several data parallel ranks each has a capacity and a share of its own: then it is not told.
    """
    flying = count(document, "max_concurrency")
    lengths = [_bounds(document, f"random_{side}_len") for side in ("input", "output")]
    ranks = whole(section(document, "server_info"), "dp_size")
    if flying is None or None in lengths or ranks not in {None, 1}:
        return None
    return flying * sum(each[1] for each in lengths if each)


def _asked(document: Document) -> int | None:
    """Return how many requests were sent: only --output-details tells it, by an error each."""
    errors = document.get("errors")
    return len(errors) if isinstance(errors, list) else None


def _bounds(document: Document, key: str) -> tuple[int, int] | None:
    longest, ratio = whole(document, key), number(document, "random_range_ratio")
    if text(document, "dataset_name") not in _RANDOM_LENGTHS or longest is None or ratio is None:
        return None
    return int(longest * ratio), longest


def _one_token_a_gap(document: Document) -> bool:
    accepted = number(document, "accept_length")
    interval = number(section(document, "server_info"), "stream_interval")
    return (accepted is None or accepted <= 1) and (interval is None or interval <= 1)


def _milliseconds(document: Document, key: str) -> float | None:
    value = number(document, key)
    return None if value is None else value * 1e-3


def _cache_hit(document: Document) -> float | None:
    percent = number(section(document, "cache_report"), "cache_hit_rate_pct")
    return None if percent is None else percent / 100


def _in_flight(document: Document) -> float | None:
    """Return the mean number of requests in flight; releases before 0.4.3 do not write it."""
    if (told := number(document, "concurrency")) is not None:
        return told
    latency = _milliseconds(document, "mean_e2e_latency_ms")
    completed, duration = whole(document, "completed"), above_zero(document, "duration")
    if latency is None or completed is None or duration is None:
        return None
    return latency * completed / duration


TOOL = Tool(NAME, recognises, parse)
