"""Power: what the rule does in simulation, and the cheapest way to it."""

import math

import numpy as np
import pytest

from service.stats.change import change_of
from service.stats.power import Design, Goal, Time, cheapest, power, standard_error
from service.stats.variance import Components, Expected

QUIET = Expected(Components(launch=0.01**2, seed=0.5, residual=0.01**2), freedom=10)
NOISY = Expected(Components(launch=0.05**2, seed=0.0, residual=0.05**2), freedom=10)
TIME = Time(start_s=100, repeat_s=10)


@pytest.mark.parametrize(
    ("launches", "repeats", "tolerance"),
    [
        pytest.param(3, 2, 0.04, id="three launches of two"),
        pytest.param(6, 3, 0.03, id="six launches of three"),
        pytest.param(2, 1, 0.08, id="two launches of one"),
    ],
)
def test_power_is_how_often_the_rule_says_unchanged_of_equal_arms(
    launches: int, repeats: int, tolerance: float
) -> None:
    random = np.random.default_rng(6)
    expected = Expected(Components(QUIET.components.launch, 0.0, QUIET.components.residual), 10)

    def arm(worse: float = 0.0) -> list[list[float]]:
        return [
            [math.exp(luck + worse + random.normal(0, 0.01)) for _ in range(repeats)]
            for luck in random.normal(0, 0.01, launches)
        ]

    unchanged = regressed = 0
    for _ in range(400):
        found = change_of(arm(), arm(), expected=expected).interval
        unchanged += -tolerance <= found.low and found.high <= tolerance
        found = change_of(arm(), arm(2 * tolerance), expected=expected).interval
        regressed += found.low > 0 and found.center >= tolerance

    told = power(expected, Design(launches, repeats), tolerance=tolerance)
    assert unchanged / 400 == pytest.approx(told, abs=0.09)
    assert regressed / 400 >= told - 0.05


def test_seeds_that_both_arms_have_cost_no_power() -> None:
    without = Expected(Components(0.01**2, 0.0, 0.01**2), 10)

    assert standard_error(QUIET, Design(3, 3)) == standard_error(without, Design(3, 3))


def test_more_launches_and_more_repeats_never_lose_power() -> None:
    by_launches = [power(NOISY, Design(count, 2), tolerance=0.1) for count in range(2, 30)]
    by_repeats = [power(NOISY, Design(5, count), tolerance=0.1) for count in range(1, 20)]

    assert by_launches == sorted(by_launches)
    assert by_repeats == sorted(by_repeats)


def test_repeats_never_buy_what_launches_vary_by() -> None:
    assert power(NOISY, Design(3, 1000), tolerance=0.03) < 0.1


def test_the_cheapest_design_reaches_the_goal_and_the_next_cheaper_ones_do_not() -> None:
    goal = Goal(tolerance=0.05, power=0.8, min_repeats=5)

    found = cheapest(QUIET, TIME, goal)

    assert found is not None
    assert goal.is_reached(QUIET, found)
    cheaper = [
        design
        for launches in range(2, 30)
        for repeats in range(1, 20)
        if TIME.of(design := Design(launches, repeats)) < TIME.of(found)
    ]
    assert not any(goal.is_reached(QUIET, design) for design in cheaper)


def test_a_goal_out_of_reach_has_no_design() -> None:
    assert cheapest(NOISY, TIME, Goal(tolerance=0.001)) is None


def test_the_policys_repeats_are_kept_to_however_quiet_it_is() -> None:
    found = cheapest(QUIET, TIME, Goal(tolerance=0.5, min_repeats=6))

    assert found is not None
    assert found.launches * found.repeats >= 6


def test_no_spread_needs_no_luck() -> None:
    assert power(Expected(Components(0, 0, 0), 10), Design(2, 1), tolerance=0.01) == 1.0


def test_both_arms_of_a_design_are_paid_for() -> None:
    assert TIME.of(Design(3, 2)) == 2 * 3 * (100 + 2 * 10)
