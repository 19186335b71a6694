"""The robust location: the mean where nothing is wild, and bounded where something is."""

from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.stats.location import HUBER_BOUND, PRICE, location, price

VALUES = st.lists(st.floats(-10, 10), min_size=1, max_size=12)


def slowly(values: list[float], sigma: float) -> float:
    """Return where the sum of bounded deviations changes sign, by bisection."""
    low, high = min(values), max(values)
    reach = HUBER_BOUND * sigma
    for _ in range(100):
        middle = (low + high) / 2
        pull = sum(max(-reach, min(reach, value - middle)) for value in values)
        low, high = (middle, high) if pull > 0 else (low, middle)
    return (low + high) / 2


def test_values_close_to_one_another_give_their_mean() -> None:
    assert location([1.0, 1.2, 1.1, 1.5], sigma=1.0) == pytest.approx(1.2)


def test_a_wild_value_counts_no_more_than_one_at_the_bound() -> None:
    assert location([0.0, 0.0, 0.0, 0.0, 1e6], sigma=1.0) == pytest.approx(1.5 / 4, abs=0.01)


@given(VALUES)
def test_two_values_or_no_sigma_give_the_mean(values: list[float]) -> None:
    assert location(values[:2], sigma=1.0) == pytest.approx(fmean(values[:2]))
    assert location(values, sigma=0.0) == pytest.approx(fmean(values))


@given(st.lists(st.floats(-3, 3), min_size=3, max_size=9))
def test_it_is_near_where_bounded_deviations_balance(values: list[float]) -> None:
    sigma = 1.0
    found = location(values, sigma)

    pull = sum(max(-1.5, min(1.5, value - found)) for value in values) / len(values)

    assert abs(pull) < 0.25
    assert abs(found - slowly(values, sigma)) < 1.0


@given(VALUES, st.randoms(use_true_random=False))
def test_the_order_of_values_does_not_matter(values: list[float], random: object) -> None:
    mixed = sorted(values, reverse=True)

    assert location(mixed, 1.0) == pytest.approx(location(values, 1.0), abs=1e-9)


def test_robustness_costs_a_tenth_where_there_is_any() -> None:
    assert (price(1), price(2), price(3)) == (1.0, 1.0, PRICE)
