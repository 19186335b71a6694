"""A change whose spread history knows: drawn to the session, robust, honest in simulation."""

import math
from itertools import chain
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from service.stats.change import Unit, ValueNotPositiveError, change_of
from service.stats.expected_change import LUCK_FROM_HISTORY, Past, expected_change
from service.stats.variance import Components, Expected

Arm = list[list[float]]

EXPECTED = Expected(Components(launch=0.02**2, seed=0.0, residual=0.03**2), freedom=20)
LOGS = st.lists(st.lists(st.floats(-0.2, 0.2), min_size=2, max_size=2), min_size=2, max_size=2)


def slowly(baseline: Arm, candidate: Arm, expected: Expected) -> tuple[float, float]:
    """Return bounds for arms of two launches of two repeats, as docs/comparison.md writes them."""
    parts, history = expected.components, min(expected.freedom, 10)
    expected_variance = parts.launch + parts.residual / 2
    farthest = 3 * math.sqrt(expected_variance)
    squares = 0.0
    for arm in (baseline, candidate):
        levels = [(launch[0] + launch[1]) / 2 for launch in arm]
        middle = (levels[0] + levels[1]) / 2
        for level in levels:
            squares += min(abs(level - middle), farthest) ** 2
    variance = (history * expected_variance + squares) / (history + 2)
    error = math.sqrt(variance / 2 + variance / 2)
    reach = float(stats.t.ppf(0.975, min(history + 2, 12))) * error
    center = fmean(chain(*candidate)) - fmean(chain(*baseline))
    return center - reach, center + reach


@given(LOGS, LOGS)
def test_it_is_what_the_page_on_comparison_says(baseline: Arm, candidate: Arm) -> None:
    found = expected_change(baseline, candidate, confidence=0.95, expected=EXPECTED)

    low, high = slowly(baseline, candidate, EXPECTED)
    assert found.low == pytest.approx(low, abs=1e-9)
    assert found.high == pytest.approx(high, abs=1e-9)


@given(LOGS, LOGS, st.floats(-5, 5))
def test_the_unit_of_the_values_does_not_matter(
    baseline: Arm, candidate: Arm, shift: float
) -> None:
    def in_another_unit(arm: Arm) -> Arm:
        return [[value + shift for value in launch] for launch in arm]

    plain = expected_change(baseline, candidate, confidence=0.95, expected=EXPECTED)
    other = expected_change(
        in_another_unit(baseline), in_another_unit(candidate), confidence=0.95, expected=EXPECTED
    )

    assert other.low == pytest.approx(plain.low, abs=1e-9)
    assert other.high == pytest.approx(plain.high, abs=1e-9)


@given(
    st.lists(st.lists(st.floats(-0.2, 0.2), min_size=1, max_size=4), min_size=1, max_size=5),
    LOGS,
)
def test_the_order_of_launches_and_repeats_does_not_matter(baseline: Arm, candidate: Arm) -> None:
    mixed = [sorted(launch) for launch in reversed(baseline)]

    plain = expected_change(baseline, candidate, confidence=0.95, expected=EXPECTED)
    again = expected_change(mixed, candidate, confidence=0.95, expected=EXPECTED)

    assert again.low == pytest.approx(plain.low, abs=1e-9)
    assert again.high == pytest.approx(plain.high, abs=1e-9)


def test_one_launch_a_side_is_judged_by_history_and_says_so() -> None:
    change = change_of([[1.0, 1.01, 0.99]], [[1.2, 1.21, 1.19]], expected=EXPECTED)

    assert change.unit is Unit.LAUNCH
    assert change.warnings == (LUCK_FROM_HISTORY,)
    assert change.interval.low > 0


def test_a_session_that_scatters_more_than_history_widens_the_interval() -> None:
    calm = change_of([[1.0], [1.0], [1.0]], [[1.0], [1.0], [1.0]], expected=EXPECTED)
    wild = change_of([[0.9], [1.0], [1.1]], [[0.9], [1.0], [1.1]], expected=EXPECTED)

    assert wild.spread > 1.3 * calm.spread


def test_one_bad_launch_of_five_is_no_change() -> None:
    arm = [[1.0], [1.01], [0.99], [1.0], [1.01]]
    bad = [[1.0], [1.01], [0.99], [1.0], [2.0]]

    interval = change_of(arm, bad, expected=EXPECTED).interval

    assert interval.low < 0 < interval.high
    assert interval.center < 0.03


def test_the_past_alone_never_makes_a_change() -> None:
    arm = [[0.1, 0.1, 0.1]]

    found = expected_change(
        arm, arm, confidence=0.95, expected=EXPECTED, past=Past(level=0.0, variance=0.001**2)
    )

    assert found.center > 0.05
    assert found.low < 0 < found.high


def test_no_spread_at_all_leaves_the_plain_ratio() -> None:
    nothing = Expected(Components(0, 0, 0), 10)

    found = expected_change(
        [[0.0]], [[0.1]], confidence=0.95, expected=nothing, past=Past(0.0, 0.01)
    )

    assert (found.low, found.center, found.high) == (0.1, 0.1, 0.1)


def test_zero_has_no_logarithm_with_history_either() -> None:
    with pytest.raises(ValueNotPositiveError):
        change_of([[1.0]], [[0.0]], expected=EXPECTED)


@pytest.mark.parametrize(
    ("count", "wild", "worst"),
    [
        pytest.param(1, 0.0, 0.06, id="one launch, normal"),
        pytest.param(3, 0.0, 0.06, id="three launches, normal"),
        pytest.param(3, 0.05, 0.08, id="three launches, one in twenty wild"),
        pytest.param(10, 0.05, 0.08, id="ten launches, one in twenty wild"),
    ],
)
def test_equal_arms_are_rarely_told_apart(count: int, wild: float, worst: float) -> None:
    random = np.random.default_rng(5)

    def arm() -> Arm:
        luck = random.normal(0, 0.02, count) * np.where(random.random(count) < wild, 6, 1)
        return [[each + random.normal(0, 0.03) for _ in range(3)] for each in luck]

    misses = 0
    for _ in range(400):
        found = expected_change(arm(), arm(), confidence=0.95, expected=EXPECTED)
        misses += not found.low < 0 < found.high

    assert misses / 400 <= worst
