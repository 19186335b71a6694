"""The policy: how much worse is accepted, and how much evidence a verdict needs."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from service.domain.metric import METRICS, Metric, metric_named

# Run-to-run spread of repeated public runs, rounded up: output throughput and median time per
# token repeat within 2-3 %, a median time to first token within 8-10 % at concurrencies above 1,
# a whole request lies between the two. Capacity and memory hardly vary; loading does.
BY_QUANTITY = MappingProxyType(
    {
        "ttft": 0.10,
        "tpot": 0.03,
        "itl": 0.03,
        "e2e": 0.05,
        "request_throughput": 0.03,
        "input_throughput": 0.03,
        "output_throughput": 0.03,
        "total_throughput": 0.03,
        "duration": 0.03,
        "concurrency": 0.05,
        "accept_length": 0.03,
        "cache_hit": 0.05,
        "kv_capacity": 0.01,
        "hbm_peak": 0.02,
        "card_balance": 0.20,
        "card_clock": 0.03,
        "start_up": 0.20,
    }
)


class PolicyError(ValueError):
    """A policy asks for something that cannot be held to."""


@dataclass(frozen=True, slots=True)
class Policy:
    """Tolerance by metric name, fewest repeats of a baseline, and confidence of intervals.

    tolerances: ratios between 0 and 1; a metric that is not named has its default.
    Raises UnknownMetricError and PolicyError.
    """

    tolerances: Mapping[str, float] = field(default_factory=dict)
    min_repeats: int = 5
    confidence: float = 0.95

    def __post_init__(self) -> None:
        for name, tolerance in self.tolerances.items():
            if not 0 < tolerance < 1:
                raise PolicyError(
                    f"the tolerance of {metric_named(name).name} is a ratio between 0 and 1, "
                    f"not {tolerance}"
                )
            metric_named(name)
        if self.min_repeats < 1:
            raise PolicyError(f"min_repeats is at least 1, not {self.min_repeats}")
        if not 0 < self.confidence < 1:
            raise PolicyError(f"confidence lies between 0 and 1, not at {self.confidence}")

    def tolerance_of(self, metric: Metric) -> float:
        """Return the largest worsening of a metric that is accepted, as a ratio."""
        if metric.name in self.tolerances:
            return self.tolerances[metric.name]
        return BY_QUANTITY[_quantity(metric)]


def with_one_tolerance(policy: Policy, tolerance: float) -> Policy:
    """Return the policy with the same tolerance for every metric. Raises PolicyError."""
    return replace(policy, tolerances=dict.fromkeys(METRICS, tolerance))


def _quantity(metric: Metric) -> str:
    return metric.name if metric.name in BY_QUANTITY else metric.name.rpartition("_")[0]
