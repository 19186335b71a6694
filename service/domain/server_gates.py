"""The gates on what a server says of itself, in its answers and its log."""

from collections import Counter

from service.domain.soak import SOAK_S, shown
from service.domain.validity import Finding, Gate, RunFacts, failure, unknown, warning

# A chat template or a system prompt is shared by all requests and is honestly found again.
COLD_CACHE_HIT = 0.01
# What is left for the KV cache moves a little with the allocator from launch to launch.
KV_CAPACITY_SLACK = 0.02
# Above what the slope of a steady server's throughput wanders by. Our choice.
FADE_MAX = 0.05


def _flushed(facts: RunFacts) -> Finding | None:
    gate = Gate.CACHE_NOT_FLUSHED
    if facts.cold is False or facts.cache_flushed is True:
        return None
    if facts.cache_flushed is None:
        return unknown(gate)
    return failure(gate, observed="no confirmation", required="an answer of 200")


def _cache_warm(facts: RunFacts) -> Finding | None:
    gate = Gate.CACHE_WARM
    if facts.cold is not True:
        return None
    if facts.cache_hit is None:
        return unknown(gate)
    if facts.cache_hit <= COLD_CACHE_HIT:
        return None
    observed = f"a hit ratio of {facts.cache_hit:.3f}"
    return failure(gate, observed=observed, required=f"at most {COLD_CACHE_HIT}")


def _errors(facts: RunFacts) -> Finding | None:
    return _none(Gate.SERVER_ERRORS, facts.server_errors, "lines")


def _retracted(facts: RunFacts) -> Finding | None:
    return _none(Gate.REQUESTS_RETRACTED, facts.retractions, "retractions")


def _refused(facts: RunFacts) -> Finding | None:
    gate, causes = Gate.ALLOCATION_REFUSED, facts.refusals
    if causes is None:
        return unknown(gate)
    if not causes:
        return None
    observed = ", ".join(f"{times} by {cause}" for cause, times in sorted(Counter(causes).items()))
    return failure(gate, observed=observed, required="none")


def _fades(facts: RunFacts) -> Finding | None:
    gate, grown = Gate.THROUGHPUT_FADES, facts.throughput_growth
    if facts.duration_s is None or facts.duration_s < SOAK_S:
        return None
    if grown is None:
        return unknown(gate)
    if grown.center >= -FADE_MAX or grown.high >= 0:
        return None
    return warning(gate, observed=f"{shown(grown)} of it", required=f"at least {-FADE_MAX}")


def _graph(facts: RunFacts) -> Finding | None:
    gate = Gate.GRAPH_OFF
    if facts.graphs_asked is False:
        return None
    if facts.graphs_asked is None:
        return unknown(gate)
    return _none(gate, facts.eager_decodes, "decode batches without a graph")


def _capacity(facts: RunFacts) -> Finding | None:
    gate, needed = Gate.KV_CAPACITY_TOO_SMALL, facts.kv_needed
    if needed is None:
        return None
    if facts.kv_capacity is None:
        return unknown(gate)
    if facts.kv_capacity >= needed:
        return None
    return failure(gate, observed=f"{facts.kv_capacity} tokens", required=f"at least {needed}")


def _capacity_moved(facts: RunFacts) -> Finding | None:
    gate, before = Gate.KV_CAPACITY_MOVED, facts.kv_capacity_before
    if before is None:
        return None
    if facts.kv_capacity is None:
        return unknown(gate)
    if abs(facts.kv_capacity - before) <= KV_CAPACITY_SLACK * before:
        return None
    required = f"{before}, within {KV_CAPACITY_SLACK:.0%}".replace("%", " %")
    return failure(gate, observed=f"{facts.kv_capacity} tokens", required=required)


def _none(gate: Gate, count: int | None, what: str) -> Finding | None:
    """Return a finding unless a count is known to be 0."""
    if count is None:
        return unknown(gate)
    return failure(gate, observed=f"{count} {what}", required=0) if count else None


SERVER_GATES = (
    _flushed,
    _cache_warm,
    _errors,
    _retracted,
    _refused,
    _fades,
    _graph,
    _capacity,
    _capacity_moved,
)
