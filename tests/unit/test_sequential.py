"""Looks at a comparison err together as seldom as one; history alone ends a cell early."""

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean, variance

import numpy as np
import pytest
from scipy.stats import t as student

from service.stats.power import Design, Goal
from service.stats.sequential import (
    LookError,
    Looks,
    Step,
    launches_by_history,
    look_at,
)
from service.stats.variance import Components, Expected

LOOKS = Looks((2, 4, 6))
TOLERANCE = 0.03
REPEATS = 3
Arm = list[list[float]]


def expected_of(share: float, sigma: float = 0.02, freedom: float = 20.0) -> Expected:
    return Expected(Components(share * sigma**2, 0.0, (1 - share) * sigma**2), freedom)


def arm(random: np.random.Generator, expected: Expected, launches: int, level: float) -> Arm:
    parts = expected.components
    luck = random.normal(0, math.sqrt(parts.launch), (launches, 1))
    values = luck + random.normal(0, math.sqrt(parts.residual), (launches, REPEATS))
    found: Arm = (level * np.exp(values)).tolist()
    return found


def ended(random: np.random.Generator, expected: Expected, worse: float, tolerance: float) -> Step:
    base = arm(random, expected, 6, 100.0)
    candidate = arm(random, expected, 6, 100.0 * (1 + worse))
    steps = (
        look_at(base[:n], candidate[:n], LOOKS, tolerance=tolerance, expected=expected).step
        for n in LOOKS.counts
    )
    return next(step for step in steps if step is not Step.GO_ON)


@pytest.mark.parametrize("counts", [(), (0, 2), (4, 2), (2, 2)])
def test_looks_that_do_not_rise_are_refused(counts: tuple[int, ...]) -> None:
    with pytest.raises(LookError):
        Looks(counts)


def test_a_look_that_was_not_planned_is_refused() -> None:
    arms = [[1.0, 1.1]] * 3

    with pytest.raises(LookError, match="after 3 launches"):
        look_at(arms, arms, LOOKS, tolerance=TOLERANCE)


def test_the_first_look_asks_for_most_and_the_last_for_hardly_more_than_one_look_alone() -> None:
    each = [LOOKS.confidence_at(count) for count in LOOKS.counts]

    assert all(earlier > later for earlier, later in pairwise(each))
    assert 0.95 < each[-1] < 0.98


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6])
def test_equal_arms_leave_the_interval_at_any_look_no_oftener_than_one_look_may(
    share: float,
) -> None:
    random = np.random.default_rng(11)
    expected = expected_of(share)
    # A tolerance next to nothing, so that a step up or down says that the interval left zero.
    found = [ended(random, expected, 0.0, 1e-9) for _ in range(600)]
    wrong = sum(step in {Step.UP, Step.DOWN} for step in found) / len(found)

    # 0.05 and three standard errors of 600 trials.
    assert wrong <= 0.077


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6])
def test_a_change_of_three_tolerances_is_called_and_equal_arms_are_hardly_ever(
    share: float,
) -> None:
    random = np.random.default_rng(12)
    expected = expected_of(share, sigma=0.015)
    worse = [ended(random, expected, 3 * TOLERANCE, TOLERANCE) for _ in range(200)]
    equal = [ended(random, expected, 0.0, TOLERANCE) for _ in range(200)]

    assert worse.count(Step.UP) / len(worse) >= 0.95
    assert (equal.count(Step.UP) + equal.count(Step.DOWN)) / len(equal) <= 0.02
    assert equal.count(Step.SAME) / len(equal) >= 0.5


def test_without_history_a_look_is_students_interval_of_the_means_of_launches() -> None:
    random = np.random.default_rng(3)
    base, candidate = (arm(random, expected_of(0.3), 4, level) for level in (100.0, 108.0))

    found = look_at(base, candidate, LOOKS, tolerance=TOLERANCE)

    low, high = slow_interval(base, candidate, LOOKS.confidence_at(4))
    assert (found.change.interval.low, found.change.interval.high) == pytest.approx((low, high))


def slow_interval(base: Arm, candidate: Arm, confidence: float) -> tuple[float, float]:
    """Return the pooled two-sample interval as a textbook writes it."""
    means = [[fmean(map(math.log, launch)) for launch in side] for side in (base, candidate)]
    count = len(base)
    pooled = fmean(variance(side) for side in means)
    center = fmean(means[1]) - fmean(means[0])
    reach = float(student.ppf((1 + confidence) / 2, 2 * count - 2)) * math.sqrt(2 * pooled / count)
    return math.expm1(center - reach), math.expm1(center + reach)


@pytest.mark.parametrize(
    ("levels", "step"),
    [
        pytest.param((100, 110), Step.UP, id="far up"),
        pytest.param((100, 90), Step.DOWN, id="far down"),
        pytest.param((100, 100), Step.SAME, id="equal"),
        pytest.param((100, 102.9), Step.GO_ON, id="at the bound"),
    ],
)
def test_where_interval_and_center_lie_decides(levels: Sequence[float], step: Step) -> None:
    base, candidate = ([[level * 0.999, level, level * 1.001]] * 2 for level in levels)

    found = look_at(
        base, candidate, LOOKS, tolerance=TOLERANCE, expected=expected_of(0.3, sigma=0.004)
    )

    assert found.step is step


def test_what_the_last_look_does_not_call_is_untold() -> None:
    base, candidate = ([[level * 0.999, level, level * 1.001]] * 6 for level in (100, 102.9))

    found = look_at(
        base, candidate, LOOKS, tolerance=TOLERANCE, expected=expected_of(0.3, sigma=0.004)
    )

    assert found.step is Step.UNTOLD


@pytest.mark.parametrize(
    ("sigma", "freedom", "launches"),
    [
        pytest.param(0.003, 20.0, 2, id="a quiet history ends after two"),
        pytest.param(0.003, 4.0, 8, id="a short history saves nothing"),
        pytest.param(0.200, 20.0, 8, id="a loud history takes all that are planned"),
    ],
)
def test_history_alone_says_how_many_launches_a_cell_takes(
    sigma: float, freedom: float, launches: int
) -> None:
    expected = expected_of(0.3, sigma=sigma, freedom=freedom)

    found = launches_by_history(expected, Goal(TOLERANCE), repeats=REPEATS, planned=8)

    assert found == launches


def test_the_fewest_launches_by_history_reach_the_goal_and_one_fewer_do_not() -> None:
    expected, goal = expected_of(0.3, sigma=0.02), Goal(TOLERANCE)

    found = launches_by_history(expected, goal, repeats=REPEATS, planned=50)

    assert 2 < found < 50
    assert goal.is_reached(expected, Design(found, REPEATS))
    assert not goal.is_reached(expected, Design(found - 1, REPEATS))
