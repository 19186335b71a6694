"""Values of one result that cannot both be true: a unit mistaken, or two fields exchanged."""

from collections.abc import Iterator, Mapping
from itertools import pairwise

from service.domain.metric import LATENCIES, STATISTICS

# A tool that rounds its values, as consoles do, may print two that are nearly equal either way.
SLACK = 0.01
# What a whole request takes holds each of these, request by request, and so does each statistic.
PARTS = ("ttft", "tpot")
WHOLE = "e2e"


def at_odds(metrics: Mapping[str, float]) -> tuple[str, ...]:
    """Return each pair of values of which the first is larger and cannot be, in words.

    A lower percentile exceeds no higher one; no part of a request takes longer than all of it.
    """
    return tuple(
        f"{smaller} {metrics[smaller]:g} s against {larger} {metrics[larger]:g} s"
        for smaller, larger in _ordered()
        if smaller in metrics
        and larger in metrics
        and metrics[smaller] > metrics[larger] * (1 + SLACK)
    )


def _ordered() -> Iterator[tuple[str, str]]:
    percentiles = sorted(
        (name for name in STATISTICS if name.startswith("p")), key=lambda name: int(name[1:])
    )
    for latency in LATENCIES:
        for lower, higher in pairwise(percentiles):
            yield f"{latency}_{lower}", f"{latency}_{higher}"
        yield f"{latency}_{percentiles[0]}", f"{latency}_{percentiles[-1]}"
    for part in PARTS:
        for statistic in STATISTICS:
            yield f"{part}_{statistic}", f"{WHOLE}_{statistic}"
