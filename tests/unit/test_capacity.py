"""Capacity: only loads that were measured, and certainly kept, are answered."""

from dataclasses import replace

import pytest

from service.domain.capacity import (
    Bound,
    CardsNeeded,
    Kept,
    Limit,
    Load,
    capacity_of,
    cards_for,
    kept,
    per_card,
)
from service.domain.metric import METRICS
from service.stats.interval import Interval
from tests.integration import builders

TTFT = Limit(METRICS["ttft_p99"], 0.5)
TPOT = Limit(METRICS["tpot_p99"], 0.05)


def load(amount: float, ttft: float, *, spread: float = 0.01, tpot: float | None = 0.02) -> Load:
    levels = {"ttft_p99": Interval(ttft - spread, ttft, ttft + spread)}
    if tpot is not None:
        levels["tpot_p99"] = Interval(tpot, tpot, tpot)
    return Load(amount, levels)


@pytest.mark.parametrize(
    ("of", "word"),
    [
        pytest.param(load(1, 0.3), Kept.KEPT, id="the whole interval within"),
        pytest.param(load(1, 0.495), Kept.UNSURE, id="its estimate within and its bound beyond"),
        pytest.param(load(1, 0.505), Kept.BROKEN, id="its estimate beyond"),
        pytest.param(load(1, 0.3, tpot=None), Kept.UNMEASURED, id="one latency not measured"),
        pytest.param(load(1, 0.6, tpot=None), Kept.BROKEN, id="one not measured, another beyond"),
        pytest.param(load(1, 0.3, tpot=0.06), Kept.BROKEN, id="the second limit beyond"),
    ],
)
def test_a_load_is_kept_by_its_whole_interval(of: Load, word: Kept) -> None:
    assert kept(of, [TTFT, TPOT]) is word


@pytest.mark.parametrize(
    ("loads", "amount", "bound"),
    [
        pytest.param([load(1, 0.1), load(4, 0.3), load(16, 0.9)], 4, Bound.BROKEN, id="reached"),
        pytest.param([load(4, 0.3), load(1, 0.1)], 4, Bound.OPEN, id="nothing higher measured"),
        pytest.param([load(1, 0.1), load(4, 0.495)], 1, Bound.UNSURE, id="the next untold"),
        pytest.param([load(1, 0.6), load(4, 0.1)], None, Bound.NOTHING, id="the lowest breaks"),
        pytest.param(
            [load(1, 0.1), load(4, 0.9), load(16, 0.3)], 1, Bound.BROKEN, id="none above a break"
        ),
        pytest.param([], None, Bound.NOTHING, id="nothing measured"),
    ],
)
def test_capacity_is_the_highest_load_below_which_none_breaks(
    loads: list[Load], amount: float | None, bound: Bound
) -> None:
    found = capacity_of(loads, [TTFT, TPOT])

    assert (found.load and found.load.amount, found.bound) == (amount, bound)


@pytest.mark.parametrize(
    ("traffic", "server", "cards", "needed"),
    [
        pytest.param(1000, Interval(90, 100, 110), 8, CardsNeeded(80, 96), id="whole servers"),
        pytest.param(1, Interval(90, 100, 110), 8, CardsNeeded(8, 8), id="at least one server"),
        pytest.param(1000, Interval(0, 100, 9e9), 1, CardsNeeded(10, None), id="no lower bound"),
    ],
)
def test_cards_are_counted_in_whole_servers_and_by_the_lower_bound(
    traffic: float, server: Interval, cards: int, needed: CardsNeeded
) -> None:
    assert cards_for(traffic, server, cards=cards) == needed


def test_a_card_has_its_share_of_a_server() -> None:
    assert per_card(Interval(80, 160, 240), 8) == Interval(10, 20, 30)


def test_conditions_that_differ_in_their_load_alone_are_alike() -> None:
    one, many = builders.condition(concurrency=1), builders.condition(concurrency=16)
    longer = replace(many, traffic=replace(many.traffic, output_tokens=999))

    assert one.key_but_load == many.key_but_load
    assert many.key_but_load != longer.key_but_load
