"""Scaling: the speedup is turned once, and only the tensor parallel cards may differ."""

from dataclasses import replace

import pytest

from service.domain.condition import Parallelism
from service.domain.metric import METRICS
from service.domain.scaling import is_on_one_card, scaling_of
from service.stats.interval import Interval
from tests.integration import builders

ONE, TWO = builders.condition(), builders.condition(tp=2)
THROUGHPUT, TPOT = METRICS["output_throughput"], METRICS["tpot_p50"]


@pytest.mark.parametrize(
    ("metric", "change", "speedup", "efficiency"),
    [
        pytest.param(THROUGHPUT, 0.6, 1.6, 0.8, id="more throughput is faster"),
        pytest.param(TPOT, -0.375, 1.6, 0.8, id="less time is faster by as much"),
        pytest.param(THROUGHPUT, -0.1, 0.9, 0.45, id="several cards can be worse than one"),
    ],
)
def test_a_speedup_above_one_is_faster_whichever_way_the_metric_improves(
    metric: object, change: float, speedup: float, efficiency: float
) -> None:
    found = scaling_of(Interval(change, change, change), cards=2, metric=metric)  # type: ignore[arg-type]  # a table of any field

    assert found.speedup == pytest.approx(speedup)
    assert found.efficiency == pytest.approx(efficiency)
    assert found.bounds is None
    # Nothing tells a spread, so nothing is said to be slower.
    assert not found.slower


def test_bounds_are_turned_with_the_metric_and_decide_what_is_slower() -> None:
    found = scaling_of(Interval(-0.2, 0.0, 0.25), cards=2, metric=TPOT)

    assert found.bounds is not None
    assert (found.bounds.low, found.bounds.high) == pytest.approx((0.8, 1.25))
    assert not found.slower
    assert scaling_of(Interval(0.1, 0.2, 0.3), cards=2, metric=TPOT).slower


def test_only_the_tensor_parallel_cards_may_differ() -> None:
    batched = builders.condition(tp=2, concurrency=8)
    piped = replace(TWO, parallelism=Parallelism(tp=1, pp=2))

    assert ONE.key_but_cards == TWO.key_but_cards
    assert len({each.key_but_cards for each in (ONE, batched, piped)}) == 3
    assert is_on_one_card(ONE)
    assert not is_on_one_card(TWO)
