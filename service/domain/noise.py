"""Noise: how much launches, seeds and repeats of a cell vary where nothing was changed."""

from dataclasses import dataclass
from types import MappingProxyType

from service.domain.metric import METRICS, Metric, Role
from service.stats.variance import Components, Estimate, Expected, shrunk

# The metrics whose noise is kept: those that are judged by themselves.
KEPT = tuple(metric for metric in METRICS.values() if metric.role is Role.JUDGED)


@dataclass(frozen=True, slots=True)
class Prior:
    """What a metric is expected to vary by before any of it was measured: ratios, not variances."""

    launch: float
    seed: float
    residual: float

    @property
    def components(self) -> Components:
        """The variances on the log scale, where a small ratio is its own logarithm."""
        return Components(self.launch**2, self.seed**2, self.residual**2)


# Rounded up from stable stretches of public nightly runs of language models (median robust sigma
# of a run: time to first token 3.6 %, time per token 1.3 %, throughput 1.5 %; tenths of them vary
# three times as much) and from launches of one stack on a quiet machine (launch 2.3 to 2.7 %, seed
# up to 1.1 %, residual 4.5 to 5.8 % of very short repeats).
TIME_TO_FIRST_TOKEN = Prior(launch=0.03, seed=0.01, residual=0.03)
STEADY = Prior(launch=0.015, seed=0.005, residual=0.015)
WHOLE_REQUEST = Prior(launch=0.02, seed=0.01, residual=0.02)
CAPACITY = Prior(launch=0.002, seed=0.0, residual=0.0)
LOADING = Prior(launch=0.10, seed=0.0, residual=0.0)
BY_QUANTITY = MappingProxyType(
    {
        "ttft": TIME_TO_FIRST_TOKEN,
        "e2e": WHOLE_REQUEST,
        "kv_capacity": CAPACITY,
        "hbm_peak": CAPACITY,
        "start_up": LOADING,
    }
)


@dataclass(frozen=True, slots=True)
class Noise:
    """What is known of a metric's noise in a cell on a host.

    launches, sessions: how many it rests on. Only launches of one stack in one session were held
    against one another, so neither a change of stack nor of day is in it.
    """

    metric: str
    host: str
    estimate: Estimate
    launches: int
    sessions: int


def prior_of(metric: Metric) -> Prior:
    """Return what a metric is expected to vary by before any of it was measured."""
    name = metric.name if metric.name in BY_QUANTITY else metric.name.rpartition("_")[0]
    return BY_QUANTITY.get(name, STEADY)


def expected_of(metric: Metric, noise: Noise | None) -> Expected:
    """Return the spread that a plan expects of a metric: what is known, drawn to the prior."""
    return shrunk(noise.estimate if noise else None, prior_of(metric).components)
