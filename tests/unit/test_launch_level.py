"""The level of a few launches: the geometric mean, with bounds by Student's t of logarithms."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.stats.launch_level import level_of

VALUES = st.lists(st.floats(1e-6, 1e6), min_size=2, max_size=12)


def test_bounds_are_those_of_students_t_on_logarithms() -> None:
    # Logarithms 0, 1, 2: mean 1, standard deviation 1, and t of 2 degrees of freedom is 4.30265.
    found = level_of([1.0, math.e, math.e**2], confidence=0.95)

    half = 4.302652729911275 / math.sqrt(3)
    assert (found.low, found.center, found.high) == pytest.approx(
        (math.exp(1 - half), math.e, math.exp(1 + half))
    )


def test_one_launch_bounds_nothing() -> None:
    found = level_of([5.0], confidence=0.95)

    assert (found.low, found.center, found.high) == (0.0, 5.0, math.inf)


@pytest.mark.parametrize("values", [[], [0.0], [1.0, -1.0]])
def test_what_is_not_above_zero_has_no_level(values: list[float]) -> None:
    with pytest.raises(ValueError, match="above zero"):
        level_of(values, confidence=0.95)


@given(VALUES, st.floats(1e-3, 1e3))
def test_a_change_of_unit_changes_the_unit_alone(values: list[float], factor: float) -> None:
    one = level_of(values, confidence=0.9)
    other = level_of([value * factor for value in values], confidence=0.9)

    assert other.center == pytest.approx(one.center * factor)
    assert other.low <= other.center <= other.high
