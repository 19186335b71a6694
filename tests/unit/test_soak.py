"""Long loads: the slope of what was measured, and that one odd value makes none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.soak import growth, relative_growth
from service.stats.trend import POINTS_MAX, slope

TIMES = [float(at) for at in range(100)]


@given(rise=st.floats(-1e3, 1e3, allow_nan=False), level=st.floats(-1e6, 1e6, allow_nan=False))
def test_a_straight_line_has_its_own_slope(rise: float, level: float) -> None:
    assert slope(TIMES, [level + rise * at for at in TIMES]) == pytest.approx(rise, abs=1e-6)


def test_a_long_stretch_is_reduced_and_keeps_its_slope() -> None:
    times = [float(at) for at in range(20 * POINTS_MAX + 7)]

    assert slope(times, [0.5 * at for at in times]) == pytest.approx(0.5)


def test_a_quarter_of_odd_values_changes_no_slope_by_much() -> None:
    values = [10.0 + (90.0 if at % 4 == 0 else 0.01 * at) for at in TIMES]

    assert slope(TIMES, values) == pytest.approx(0.01, abs=0.005)


def test_values_of_one_moment_have_no_slope() -> None:
    assert slope([3.0, 3.0], [1.0, 2.0]) == 0.0


def test_growth_is_over_the_whole_stretch_and_relative_to_the_middle() -> None:
    falling = [100.0 - 0.2 * at for at in TIMES]

    assert growth(TIMES, falling) == pytest.approx(-19.8)
    assert relative_growth(TIMES, falling) == pytest.approx(-0.22, abs=0.001)


def test_too_few_values_or_a_middle_of_zero_tell_nothing() -> None:
    assert growth(TIMES[:9], TIMES[:9]) is None
    assert relative_growth([], []) is None
    assert relative_growth(TIMES, [0.0] * 100) is None
