"""What part of serving a metric speaks of, and how much of a change of it is accepted, by name."""

from enum import StrEnum
from types import MappingProxyType

from service.domain.metric import metric_named
from service.domain.policy import Policy

# The tolerance of a quantity that is none of ours.
OTHER_TOLERANCE = 0.03


class Regime(StrEnum):
    """What part of serving a metric speaks of; throughput and TPOT are nearly one quantity."""

    PREFILL = "prefill"
    DECODE = "decode"
    CAPACITY = "capacity"
    OTHER = "other"


REGIMES = MappingProxyType(
    {
        "ttft": Regime.PREFILL,
        "tpot": Regime.DECODE,
        "itl": Regime.DECODE,
        "throughput": Regime.DECODE,
        "kv": Regime.CAPACITY,
        "hbm": Regime.CAPACITY,
    }
)


def regime_of(metric: str) -> Regime:
    """Return the part of serving a metric speaks of, by its name."""
    name = metric.lower()
    return next((regime for word, regime in REGIMES.items() if word in name), Regime.OTHER)


def tolerance_of(metric: str) -> float:
    """Return the tolerance of a metric by its name, also where the name is none of ours."""
    try:
        return Policy().tolerance_of(metric_named(metric))
    except LookupError:
        return OTHER_TOLERANCE
