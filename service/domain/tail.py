"""Tail percentiles: from how many requests on each is offered at all."""

from collections.abc import Mapping
from math import ceil, log
from types import MappingProxyType

# The code of what is said where a percentile is not offered. It is no gate: the run is judged by
# its other metrics.
TAIL_NOT_OFFERED = "tail_not_offered"
CONFIDENCE = 0.95
TAILS = MappingProxyType({"p90": 0.90, "p95": 0.95, "p99": 0.99})


def _least(quantile: float) -> int:
    """Return the fewest observations of which the largest bounds a quantile from above.

    The largest of n lies below the true quantile with probability quantile ** n. From the least n
    on for which that is at most 5 %, an order statistic can bound it; below, the percentile a
    tool prints is an extrapolation (S. S. Wilks, "Determination of Sample Sizes for Setting
    Tolerance Limits", Annals of Mathematical Statistics 12, 1941).
    """
    return ceil(log(1 - CONFIDENCE) / log(quantile))


# 29, 59 and 299.
LEAST_REQUESTS = MappingProxyType({name: _least(quantile) for name, quantile in TAILS.items()})


def withheld(metrics: Mapping[str, float], completed: int | None) -> dict[str, str]:
    """Return the tail percentiles that too few requests carry, each with the reason.

    metrics: by metric name. completed: how many requests; None, where nobody tells, is too few.
    Gaps between tokens are counted by request as well: those of one request are not independent.
    """
    told = "their number is not told" if completed is None else f"{completed} completed"
    return {
        name: f"a {tail} needs at least {least} completed requests, and {told}"
        for name in metrics
        if (least := LEAST_REQUESTS.get(tail := name.rpartition("_")[2])) is not None
        and (completed is None or completed < least)
    }
