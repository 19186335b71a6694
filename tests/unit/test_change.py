"""The change between two arms: right for few launches, and honest about what it cannot see."""

import math
from collections.abc import Callable
from itertools import chain, product
from random import Random
from statistics import mean
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from service.stats.change import (
    LAUNCH_LUCK_UNSEEN,
    NO_SPREAD_SEEN,
    UNEQUAL_REPEATS,
    Change,
    TooFewValuesError,
    Unit,
    ValueNotPositiveError,
    change_of,
    level_of,
)
from service.stats.interval import Interval

Arm = list[list[float]]

POSITIVE = st.floats(min_value=0.1, max_value=1000.0)
ARMS = st.lists(st.lists(POSITIVE, min_size=1, max_size=4), min_size=2, max_size=4)


def arms(
    random: np.random.Generator,
    *,
    worse: float = 0.0,
    launches: int = 2,
    repeats: int = 2,
    luck: float = 0.03,
    noise: float = 0.05,
) -> tuple[Arm, Arm]:
    """Return two arms whose launches differ by luck; the candidate's level is worse by a ratio."""

    def arm(level: float) -> Arm:
        return [
            [math.exp(level + launch + random.normal(0, noise)) for _ in range(repeats)]
            for launch in random.normal(0, luck, launches)
        ]

    return arm(0.0), arm(math.log1p(worse))


def by_the_book(baseline: list[float], candidate: list[float]) -> Interval:
    """Return the two-sample t interval as a textbook writes it, on given observations."""
    left, right = [math.log(x) for x in baseline], [math.log(x) for x in candidate]
    n, m = len(left), len(right)
    squares = sum((x - mean(left)) ** 2 for x in left) + sum((x - mean(right)) ** 2 for x in right)
    error = math.sqrt(squares / (n + m - 2) * (1 / n + 1 / m))
    reach = float(stats.t.ppf(0.975, n + m - 2)) * error
    center = mean(right) - mean(left)
    return Interval(math.expm1(center - reach), math.expm1(center), math.expm1(center + reach))


def assert_close(found: Interval, wanted: Interval) -> None:
    assert found.low == pytest.approx(wanted.low, rel=1e-9, abs=1e-9)
    assert found.center == pytest.approx(wanted.center, rel=1e-9, abs=1e-9)
    assert found.high == pytest.approx(wanted.high, rel=1e-9, abs=1e-9)


def test_a_hand_worked_table_comes_out() -> None:
    # Logs of the launches' geometric means: 0, 0.02 and 0.10, 0.12. Difference of means 0.10.
    # Pooled variance (2 x 0.0001 + 2 x 0.0001) / 2 = 0.0002; standard error its root, 0.014142.
    # Student's t, 2 degrees of freedom, 0.975: 4.302653. Reach 0.060849.
    baseline = [[math.exp(-0.01), math.exp(0.01)], [math.exp(0.02)] * 2]
    candidate = [[math.exp(0.10)] * 2, [math.exp(0.09), math.exp(0.15)]]

    change = change_of(baseline, candidate)

    assert change.spread == pytest.approx(math.sqrt(0.0002))
    assert (change.unit, change.counts, change.freedom) == (Unit.LAUNCH, (2, 2), 2)
    assert change.interval.center == pytest.approx(math.expm1(0.10))
    assert change.interval.low == pytest.approx(math.expm1(0.10 - 0.060849), abs=1e-6)
    assert change.interval.high == pytest.approx(math.expm1(0.10 + 0.060849), abs=1e-6)
    assert change.warnings == ()


@given(ARMS, ARMS)
def test_it_is_the_two_sample_t_interval_on_launch_means(baseline: Arm, candidate: Arm) -> None:
    def means(arm: Arm) -> list[float]:
        return [math.prod(launch) ** (1 / len(launch)) for launch in arm]

    found = change_of(baseline, candidate)

    if found.spread > 1e-6 and found.interval.high < 1e6:
        assert_close(found.interval, by_the_book(means(baseline), means(candidate)))


def test_with_one_launch_a_side_repeats_are_the_unit_and_a_warning_says_what_that_misses() -> None:
    baseline, candidate = [1.0, 1.1, 0.9], [1.2, 1.3]

    change = change_of([baseline], [candidate])

    assert_close(change.interval, by_the_book(baseline, candidate))
    assert (change.unit, change.counts, change.freedom) == (Unit.REPEAT, (3, 2), 3)
    assert change.warnings == (LAUNCH_LUCK_UNSEEN,)


def test_one_arm_with_two_launches_makes_the_launch_the_unit() -> None:
    change = change_of([[1.0, 1.1], [1.2, 1.0]], [[1.3, 1.4]])

    assert (change.unit, change.counts, change.freedom) == (Unit.LAUNCH, (2, 1), 1)


@given(ARMS, ARMS, st.floats(min_value=0.01, max_value=100))
def test_the_unit_of_the_values_does_not_matter(
    baseline: Arm, candidate: Arm, scale: float
) -> None:
    def in_another_unit(arm: Arm) -> Arm:
        return [[value * scale for value in launch] for launch in arm]

    plain = change_of(baseline, candidate)
    rescaled = change_of(in_another_unit(baseline), in_another_unit(candidate))

    assert rescaled.interval.center == pytest.approx(plain.interval.center, rel=1e-6, abs=1e-9)
    assert rescaled.spread == pytest.approx(plain.spread, rel=1e-6, abs=1e-9)


@given(ARMS, ARMS, st.randoms(use_true_random=False))
def test_the_order_of_launches_and_repeats_does_not_matter(
    baseline: Arm, candidate: Arm, random: Random
) -> None:
    def shuffled(arm: Arm) -> Arm:
        return random.sample([random.sample(launch, len(launch)) for launch in arm], len(arm))

    plain = change_of(baseline, candidate)
    mixed = change_of(shuffled(baseline), shuffled(candidate))

    assert mixed.interval.center == pytest.approx(plain.interval.center, rel=1e-6, abs=1e-9)
    assert mixed.spread == pytest.approx(plain.spread, rel=1e-6, abs=1e-9)


@given(ARMS, ARMS)
def test_the_change_back_is_the_inverse(baseline: Arm, candidate: Arm) -> None:
    there = change_of(baseline, candidate).interval
    back = change_of(candidate, baseline).interval

    assert (1 + there.center) * (1 + back.center) == pytest.approx(1)
    assert level_of(candidate) / level_of(baseline) == pytest.approx(1 + there.center)


def test_an_effect_of_the_seeds_that_every_launch_shares_cancels() -> None:
    seeds = (1.0, 1.5, 0.7)
    baseline = [[1.0 * seed for seed in seeds], [1.02 * seed for seed in seeds]]
    candidate = [[1.1 * seed for seed in seeds], [1.12 * seed for seed in seeds]]

    change = change_of(baseline, candidate)

    assert_close(change.interval, by_the_book([1.0, 1.02], [1.1, 1.12]))


def test_launches_of_unequal_length_are_warned_of() -> None:
    assert UNEQUAL_REPEATS in change_of([[1.0, 1.1], [1.2]], [[1.0, 1.1], [1.1, 1.0]]).warnings


def test_a_launch_without_repeats_counts_for_nothing() -> None:
    assert change_of([[1.0, 1.1], []], [[1.2, 1.1]]) == change_of([[1.0, 1.1]], [[1.2, 1.1]])


def test_equal_values_give_an_interval_without_width_and_a_warning() -> None:
    change = change_of([[2.0, 2.0], [2.0, 2.0]], [[2.1, 2.1], [2.1, 2.1]])

    assert change.interval.low == change.interval.high == pytest.approx(0.05)
    assert NO_SPREAD_SEEN in change.warnings
    assert change.smallest_detectable(0.03) == pytest.approx(0.03)


@pytest.mark.parametrize(
    ("baseline", "candidate"),
    [
        pytest.param([[1.0]], [[1.1]], id="one value a side"),
        pytest.param([], [[1.1, 1.2, 1.3]], id="no baseline"),
        pytest.param([[1.1, 1.2, 1.3]], [[], []], id="no candidate"),
    ],
)
def test_too_few_values_are_refused(baseline: Arm, candidate: Arm) -> None:
    with pytest.raises(TooFewValuesError):
        change_of(baseline, candidate)


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_a_value_without_a_logarithm_is_refused(value: float) -> None:
    with pytest.raises(ValueNotPositiveError):
        change_of([[1.0, 1.1]], [[1.0, value]])


def test_a_change_too_large_for_a_float_still_has_an_interval() -> None:
    change = change_of([[1e-300, 2e-300]], [[1e300, 2e300]])

    assert math.isfinite(change.interval.high)


def rate(trials: int, says: Callable[[Change], bool], **shape: Any) -> float:
    """Return the share of seeded trials of which something is said."""
    random = np.random.default_rng(20261129)
    found = [says(change_of(*arms(random, **shape))) for _ in range(trials)]
    return sum(found) / trials


def away_from_zero(change: Change) -> bool:
    return change.interval.low > 0 or change.interval.high < 0


@pytest.mark.parametrize("luck", [0.0, 0.03, 0.10], ids="launch luck {}".format)
def test_two_launches_of_one_stack_differ_falsely_in_five_of_a_hundred(luck: float) -> None:
    # 3000 trials: one standard error of 5 % is 0.4 %.
    assert rate(3000, away_from_zero, luck=luck) == pytest.approx(0.05, abs=0.015)


def test_repeats_taken_for_launches_would_alarm_far_too_often() -> None:
    random = np.random.default_rng(1)
    alarms = 0
    for _ in range(500):
        left, right = arms(random, repeats=5, luck=0.10)
        alarms += away_from_zero(change_of([[*chain(*left)]], [[*chain(*right)]]))

    assert alarms / 500 > 0.20


@pytest.mark.parametrize(("launches", "tolerance"), [*product((2, 4), (0.03, 0.30))])
def test_the_smallest_detectable_worsening_is_called_in_eighty_of_a_hundred(
    launches: int, tolerance: float
) -> None:
    spread = math.sqrt((0.03**2 + 0.05**2 / 2) * 2 / launches)
    known = Change(Interval(0, 0, 0), Unit.LAUNCH, (launches,) * 2, spread, 2 * launches - 2, 0.95)
    smallest = known.smallest_detectable(tolerance)

    def regressed(change: Change) -> bool:
        return change.interval.low > 0 and change.interval.center >= tolerance

    found = rate(2000, regressed, worse=smallest, launches=launches)

    assert found == pytest.approx(0.80, abs=0.03)


def test_a_fall_is_detectable_at_the_same_log_change_as_a_rise() -> None:
    change = change_of([[1.0, 1.1], [1.05, 1.0]], [[1.0, 1.02], [1.1, 1.0]])
    rise = change.smallest_detectable(1e-9)
    fall = change.smallest_detectable(1e-9, rise_is_worse=False)

    assert (1 + rise) * (1 - fall) == pytest.approx(1)
    assert 0 < fall < 1


def test_more_power_asks_for_a_larger_effect() -> None:
    change = change_of([[1.0, 1.1], [1.05, 1.0]], [[1.0, 1.02], [1.1, 1.0]])

    assert change.smallest_detectable(0.03, power=0.9) > change.smallest_detectable(0.03)
