"""The closed list of what is measured, in which unit, and which way is better."""

from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from types import MappingProxyType

# Raised when the meaning of a metric below changes; values of two revisions are never compared.
METRIC_REVISION = 1


class Unit(StrEnum):
    """Base units only: readers may scale them for the eye, stores never do."""

    SECOND = "s"
    TOKEN_PER_SECOND = "tok/s"
    REQUEST_PER_SECOND = "req/s"
    BYTE = "B"
    TOKEN = "tok"
    RATIO = "ratio"


class Better(StrEnum):
    """The direction in which a metric improves."""

    LOWER = "lower"
    HIGHER = "higher"


class Role(StrEnum):
    """What a metric is for: judged by itself, or shown beside a verdict as an explanation."""

    JUDGED = "judged"
    SHOWN = "shown"


@dataclass(frozen=True, slots=True)
class Metric:
    """One quantity a benchmark reports."""

    name: str
    unit: Unit
    better: Better
    role: Role = Role.SHOWN

    def worsening(self, change: float) -> float:
        """Return a relative change signed so that positive always means worse."""
        return change if self.better is Better.LOWER else -change


LATENCIES = ("ttft", "tpot", "itl", "e2e")
STATISTICS = ("mean", "p50", "p90", "p95", "p99")
# Medians of the two phases; a tail needs more requests than most cells send.
JUDGED_LATENCIES = frozenset({"ttft_p50", "tpot_p50"})


def _latency(name: str) -> Metric:
    role = Role.JUDGED if name in JUDGED_LATENCIES else Role.SHOWN
    return Metric(name, Unit.SECOND, Better.LOWER, role)


METRICS = MappingProxyType(
    {
        metric.name: metric
        for metric in (
            *(
                _latency(f"{latency}_{statistic}")
                for latency in LATENCIES
                for statistic in STATISTICS
            ),
            Metric("request_throughput", Unit.REQUEST_PER_SECOND, Better.HIGHER),
            Metric("input_throughput", Unit.TOKEN_PER_SECOND, Better.HIGHER),
            Metric("output_throughput", Unit.TOKEN_PER_SECOND, Better.HIGHER, Role.JUDGED),
            Metric("total_throughput", Unit.TOKEN_PER_SECOND, Better.HIGHER),
            Metric("duration", Unit.SECOND, Better.LOWER),
            Metric("concurrency", Unit.RATIO, Better.HIGHER),
            Metric("accept_length", Unit.TOKEN, Better.HIGHER),
            Metric("cache_hit", Unit.RATIO, Better.HIGHER),
            Metric("kv_capacity", Unit.TOKEN, Better.HIGHER),
            Metric("hbm_peak", Unit.BYTE, Better.LOWER),
            Metric("card_balance", Unit.RATIO, Better.HIGHER),
            Metric("card_clock", Unit.RATIO, Better.HIGHER),
            Metric("start_up", Unit.SECOND, Better.LOWER),
        )
    }
)


class UnknownMetricError(LookupError):
    """A name is not in the list above."""

    def __init__(self, name: str) -> None:
        near = get_close_matches(name, METRICS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(sorted(METRICS))}"
        super().__init__(f"no metric {name!r}; {hint}")


def metric_named(name: str) -> Metric:
    """Return the metric of that name. Raises UnknownMetricError."""
    if name not in METRICS:
        raise UnknownMetricError(name)
    return METRICS[name]
