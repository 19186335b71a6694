"""The policy: a tolerance for every metric, its own or the default of its quantity."""

from operator import attrgetter

import pytest

from service.domain.metric import METRICS, Metric, UnknownMetricError, metric_named
from service.domain.policy import Policy, PolicyError, with_one_tolerance


@pytest.mark.parametrize("metric", METRICS.values(), ids=attrgetter("name"))
def test_every_metric_has_a_tolerance_that_is_a_ratio(metric: Metric) -> None:
    assert 0 < Policy().tolerance_of(metric) < 1


@pytest.mark.parametrize(
    ("name", "tolerance"),
    [("output_throughput", 0.03), ("tpot_p50", 0.03), ("ttft_p50", 0.10), ("start_up", 0.20)],
)
def test_defaults_follow_the_noise_of_a_quantity(name: str, tolerance: float) -> None:
    assert Policy().tolerance_of(metric_named(name)) == tolerance


def test_a_named_tolerance_comes_before_the_default() -> None:
    policy = Policy(tolerances={"ttft_p50": 0.2})

    assert policy.tolerance_of(metric_named("ttft_p50")) == 0.2
    assert policy.tolerance_of(metric_named("ttft_p99")) == 0.10


def test_one_tolerance_may_hold_for_all() -> None:
    policy = with_one_tolerance(Policy(min_repeats=3), 0.07)

    assert {policy.tolerance_of(metric) for metric in METRICS.values()} == {0.07}
    assert policy.min_repeats == 3


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"tolerances": {"ttft_p50": 5.0}}, id="a percentage for a ratio"),
        pytest.param({"tolerances": {"ttft_p50": 0.0}}, id="no tolerance at all"),
        pytest.param({"min_repeats": 0}, id="no repeats"),
        pytest.param({"confidence": 95.0}, id="a percentage for a confidence"),
    ],
)
def test_what_cannot_be_held_to_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(PolicyError):
        Policy(**wrong)  # type: ignore[arg-type]  # the wrong kinds are the point


def test_a_misspelt_metric_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownMetricError, match="did you mean ttft_p"):
        Policy(tolerances={"ttft_p5": 0.1})
