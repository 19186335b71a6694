"""Experiments: one parameter at a time, and no value is taken for what luck made of it."""

from collections.abc import Sequence

import pytest

from service.domain.experiment import (
    ExperimentError,
    Parameter,
    Seen,
    confidence_of_each,
    one_parameter,
    recommended,
)
from service.domain.verdict import Outcome
from service.stats.interval import Interval

SIZE = Parameter("--chunked-prefill-size", ("2048", "4096", "8192"))
SPEED = "output_throughput"


def seen(outcome: Outcome, center: float, **others: Outcome) -> Seen:
    around = Interval(center - 0.01, center, center + 0.01)
    return Seen("chat", {SPEED: outcome, **others}, {SPEED: around})


def test_a_parameter_is_read_with_its_values_in_order() -> None:
    assert one_parameter(["--chunked-prefill-size=2048,4096,8192"]) == SIZE


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        pytest.param([], "say what is tried", id="nothing"),
        pytest.param(["A_B=1"], "two values or more", id="one value"),
        pytest.param(["A_B=1,"], "two values or more", id="an empty value"),
        pytest.param(["A_B=1,1"], "one value twice", id="a value twice"),
        pytest.param(["A_B=1,2,3,4,5,6,7,8,9"], "9 values", id="too many"),
    ],
)
def test_what_is_no_experiment_is_refused(texts: Sequence[str], said: str) -> None:
    with pytest.raises(ExperimentError, match=said):
        one_parameter(texts)


def test_a_second_parameter_is_refused_by_name() -> None:
    with pytest.raises(ExperimentError, match="OMP_NUM_THREADS is another"):
        one_parameter(["--chunked-prefill-size=2048,4096", "OMP_NUM_THREADS=1,2"])


def test_the_value_that_gains_most_is_taken_and_what_it_costs_is_named() -> None:
    found = recommended(
        SIZE,
        {
            "4096": [seen(Outcome.IMPROVED, -0.05)],
            "8192": [seen(Outcome.IMPROVED, -0.09, ttft_p50=Outcome.REGRESSED)],
        },
        metric=SPEED,
    )

    assert found.value == "8192"
    assert found.gain is not None
    assert found.gain.center == pytest.approx(0.09)
    assert (found.gain.low, found.gain.high) == pytest.approx((0.08, 0.10))
    assert found.regressed == ("ttft_p50 of chat",)


@pytest.mark.parametrize(
    "cells",
    [
        pytest.param([seen(Outcome.UNCHANGED, -0.01)], id="unchanged"),
        pytest.param([seen(Outcome.INCONCLUSIVE, -0.20)], id="inconclusive, however large"),
        pytest.param(
            [seen(Outcome.IMPROVED, -0.20), seen(Outcome.REGRESSED, 0.05)], id="worse elsewhere"
        ),
        pytest.param([seen(Outcome.IMPROVED, -0.20), seen(Outcome.BROKEN, 0.0)], id="broken"),
    ],
)
def test_the_control_stays_where_no_other_value_is_surely_better(cells: Sequence[Seen]) -> None:
    found = recommended(SIZE, {"4096": cells}, metric=SPEED)

    assert (found.value, found.gain) == ("2048", None)


def test_each_of_several_values_has_its_share_of_the_error() -> None:
    assert confidence_of_each(0.95, 2) == pytest.approx(0.95)
    assert confidence_of_each(0.95, 6) == pytest.approx(0.99)
