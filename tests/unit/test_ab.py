"""Two launches and the past: told apart where they differ, and left alone where they do not."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.stats.ab import (
    SHARE,
    SHARE_LEAST,
    Direction,
    TooShortHistoryError,
    decide,
    launch_share,
)
from service.stats.change import TooFewValuesError

Floats = list[float]


def noisy(random: np.random.Generator, count: int, *, share: float = 0.0) -> Floats:
    """Return repeats of one launch around 1, of 1 % spread, of which a share is the launch's."""
    luck = random.normal(0, 0.01 * math.sqrt(share))
    return [math.exp(luck + random.normal(0, 0.01 * math.sqrt(1 - share))) for _ in range(count)]


def history(random: np.random.Generator) -> Floats:
    return [math.exp(random.normal(0, 0.01)) for _ in range(40)]


@pytest.mark.parametrize(
    ("factor", "direction"),
    [
        pytest.param(1.0, Direction.NONE, id="the same"),
        pytest.param(1.01, Direction.NONE, id="within the smallest change worth a word"),
        pytest.param(1.1, Direction.UP, id="a tenth more"),
        pytest.param(0.9, Direction.DOWN, id="a tenth less"),
    ],
)
def test_a_change_has_a_direction(factor: float, direction: Direction) -> None:
    random = np.random.default_rng(1)
    base, past = noisy(random, 3), history(random)

    found = decide(base, [factor * value for value in base], past)

    assert found.direction is direction


def test_a_baseline_launch_that_is_off_by_itself_is_no_change_of_the_candidate() -> None:
    random = np.random.default_rng(2)
    candidate, past = noisy(random, 5), history(random)

    assert decide([1.2 * value for value in candidate], candidate, past).direction is Direction.NONE


@settings(max_examples=40, deadline=None)
@given(st.floats(1e-6, 1e6), st.integers(0, 1000))
def test_neither_unit_nor_order_of_repeats_matters(scale: float, number: int) -> None:
    random = np.random.default_rng(number)
    base, candidate, past = noisy(random, 5), noisy(random, 5), history(random)

    plain = decide(base, candidate, past).change.interval
    other = decide(
        [scale * value for value in sorted(base)],
        [scale * value for value in sorted(candidate)],
        [scale * value for value in past],
    ).change.interval

    assert other.low == pytest.approx(plain.low, abs=1e-9)
    assert other.high == pytest.approx(plain.high, abs=1e-9)


def test_the_launchs_share_is_seen_where_repeats_are_many() -> None:
    random = np.random.default_rng(3)
    past = [math.log(value) for value in history(random)]

    def shares(share: float) -> float:
        found = []
        for _ in range(50):
            arms = [[math.log(value) for value in noisy(random, 20, share=share)] for _ in "ab"]
            found.append(launch_share(arms, past, 0.01))
        return float(np.mean(found))

    assert shares(0.0) < 0.3
    assert 0.4 < shares(0.5) < 0.6
    assert shares(0.9) > 0.7


def test_one_repeat_an_arm_says_nothing_of_the_share() -> None:
    assert launch_share([[0.0], [0.1]], [0.0, 0.01, -0.01, 0.02, 0.0], 0.01) == SHARE


def test_a_share_is_never_taken_to_be_nothing() -> None:
    arms = [[-0.5, 0.5] * 20, [-0.5, 0.5] * 20]

    assert launch_share(arms, [0.0, 0.01, -0.01, 0.02, -0.02], 0.01) == SHARE_LEAST


def test_equal_launches_are_rarely_told_apart_and_a_tenth_nearly_always() -> None:
    random = np.random.default_rng(4)
    alarms = hits = 0
    for _ in range(200):
        base, candidate, past = (
            noisy(random, 3, share=0.5),
            noisy(random, 3, share=0.5),
            history(random),
        )
        alarms += decide(base, candidate, past).direction is not Direction.NONE
        worse = [1.1 * value for value in candidate]
        hits += decide(base, worse, past).direction is Direction.UP

    assert alarms / 200 <= 0.05
    assert hits / 200 >= 0.95


def test_past_values_that_are_all_equal_leave_a_floor_of_spread() -> None:
    assert decide([1.0], [1.001], [1.0] * 10).direction is Direction.NONE
    assert decide([1.0], [1.1], [1.0] * 10).direction is Direction.UP


def test_a_short_past_is_refused() -> None:
    with pytest.raises(TooShortHistoryError, match="at least 5 values, got 2"):
        decide([1.0], [1.0], [1.0, 1.0])


def test_an_empty_arm_is_refused() -> None:
    with pytest.raises(TooFewValuesError):
        decide([], [1.0], [1.0] * 10)
