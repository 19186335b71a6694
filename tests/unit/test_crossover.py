"""The crossover: what happened to both hosts cancels, and few launches say so."""

import random

import pytest

from service.stats.change import TooFewValuesError, ValueNotPositiveError
from service.stats.crossover import crossover

STEADY = [[100.0, 101.0], [99.0, 100.0], [101.0, 100.5]]


def times(factor: float) -> list[list[float]]:
    return [[value * factor for value in launch] for launch in STEADY]


def test_what_happened_to_the_canary_alone_is_the_change() -> None:
    change = crossover((STEADY, times(1.1)), (STEADY, times(1.0)))

    assert change.interval.center == pytest.approx(0.1)
    assert change.interval.low < 0.1 < change.interval.high


def test_what_happened_to_both_hosts_cancels() -> None:
    change = crossover((STEADY, times(1.1)), (STEADY, times(1.1)))

    assert change.interval.center == pytest.approx(0.0, abs=1e-12)


def test_a_scale_of_one_host_changes_nothing() -> None:
    slow_host = (times(3.0), times(3.3))

    assert crossover(slow_host, (STEADY, STEADY)).interval.center == pytest.approx(0.1)


def test_four_arms_have_four_means_to_pay_for() -> None:
    assert crossover((STEADY, STEADY), (STEADY, STEADY)).freedom == 8


def test_two_launches_of_an_arm_are_too_few() -> None:
    with pytest.raises(TooFewValuesError):
        crossover((STEADY, STEADY[:2]), (STEADY, STEADY))


def test_a_value_of_nothing_is_refused() -> None:
    with pytest.raises(ValueNotPositiveError):
        crossover((STEADY, [[0.0], [1.0], [1.0]]), (STEADY, STEADY))


def test_equal_stacks_are_called_changed_as_seldom_as_promised() -> None:
    chance = random.Random(20261130)
    trials = 2000

    def arm() -> list[list[float]]:
        return [[100 * (1 + chance.gauss(0, 0.02))] for _ in range(3)]

    outside = 0.0
    for _ in range(trials):
        interval = crossover((arm(), arm()), (arm(), arm())).interval
        outside += not interval.low <= 0 <= interval.high

    assert outside / trials == pytest.approx(0.05, abs=0.015)
